import { isUtf8 } from "node:buffer";
import { lstatSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { readRegular, whyUnread } from "../../regular-file.ts";
import type { Declarations } from "./declarations.ts";
import { textOf } from "./fields.ts";
import { attempt, type Node, Page, UNREADABLE } from "./page.ts";
import type { ProblemList } from "./problem.ts";
import { SourceText } from "./source-text.ts";
import { readTree } from "./yaml.ts";

/** A file that is being read. */
export interface OpenFile {
  readonly page: Page;
  /** Absolute path of its folder. */
  readonly folder: string;
  readonly root: Node;
}

/** Where something is read, and what it may speak of. */
export interface Source extends OpenFile {
  readonly files: ScenarioFiles;
  readonly declared: Declarations;
}

/** The files of one scenario: its own, and those that its paths lead to. */
export class ScenarioFiles {
  readonly #problems: ProblemList;
  readonly #folder: ScenarioFolder;
  /** The scenario's file as the user named it. */
  readonly #file: string;
  readonly #parts = new Map<string, OpenFile | undefined>();

  /** `folder`: where the scenario's own file lies. */
  constructor(file: string, folder: string, problems: ProblemList) {
    this.#file = file;
    this.#folder = new ScenarioFolder(folder);
    this.#problems = problems;
  }

  /** The scenario's own file. */
  open(text: string): OpenFile {
    return this.#open(this.#file, text, this.#folder.path);
  }

  /** A file with steps to include, read once however often it is included. */
  part(path: string): OpenFile {
    if (!this.#parts.has(path))
      this.#parts.set(
        path,
        attempt(() => this.#openPart(path)),
      );
    const part = this.#parts.get(path);
    if (part === undefined) throw UNREADABLE;
    return part;
  }

  /** The absolute path that a file names, which must not lead out of the scenario's folder. */
  pathAt(
    { page, folder }: Pick<OpenFile, "page" | "folder">,
    node: Node,
    need: "must exist" | "may be missing" = "must exist",
  ): string {
    const text = textOf(page, node, "a path");
    const followed = this.#folder.follow(text, folder);
    if (!followed.ok) throw page.wrong(node.start, followed.message, followed.hint);
    if (followed.exists || need === "may be missing") return followed.path;
    throw page.wrong(node.start, `there is no file ${this.nameOf(followed.path)}`);
  }

  /** A file as the user would name it. */
  nameOf(path: string): string {
    return join(dirname(this.#file), relative(this.#folder.path, path)).split(sep).join("/");
  }

  #openPart(path: string): OpenFile {
    const file = this.nameOf(path);
    const read = readTextFile(path);
    if (read.ok) return this.#open(file, read.text, dirname(path));
    const page = new Page(new SourceText(file, read.before), this.#problems);
    throw page.wrong(page.source.text.length, read.message);
  }

  #open(file: string, text: string, folder: string): OpenFile {
    const page = new Page(new SourceText(file, text), this.#problems);
    requireLimits(page);
    return { page, folder, root: readTree(page) };
  }
}

/** Where a path of a file leads; or why it may not be followed, with what to do. */
type Followed =
  | { readonly ok: true; readonly path: string; readonly exists: boolean }
  | { readonly ok: false; readonly message: string; readonly hint: string | null };

const RULE = "paths are relative to the file that names them and stay in the scenario's folder";

/** The folder of a scenario, out of which none of its paths leads. */
class ScenarioFolder {
  /** Absolute. */
  readonly path: string;
  #real: string | null = null;

  constructor(path: string) {
    this.path = resolve(path);
  }

  /** Follows a path that a file in `from` names, links and all. */
  follow(path: string, from: string): Followed {
    if (path === "") return refused("expected a path, found nothing");
    if (/^[A-Za-z][A-Za-z\d+.-]*:/.test(path))
      return refused("expected a relative path, found a URL or a drive");
    if (path.includes("\\")) return refused("expected a path with forward slashes, found a backslash");
    if (isAbsolute(path)) return refused("expected a relative path, found an absolute one");
    const absolute = resolve(from, path);
    if (!isWithin(this.path, absolute))
      return refused("expected a path in the scenario's folder, found one out of it");
    try {
      return this.#followLinks(absolute);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      return refused(`the path cannot be followed: ${code ?? message}`);
    }
  }

  #followLinks(path: string): Followed {
    const { place, exists } = nearestExisting(path);
    if (place === null) return refused("the path leads through a link that leads nowhere");
    this.#real ??= realpathSync(this.path);
    if (!isWithin(this.#real, realpathSync(place))) {
      return refused("expected a path in the scenario's folder, found a link out of it");
    }
    if (exists && !statSync(path).isFile()) return refused("expected a file, found something else");
    return { ok: true, path, exists };
  }
}

const refused = (message: string): Followed => ({ ok: false, message, hint: RULE });

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** The path, or the innermost folder of it that exists; null where a link on the way leads nowhere. */
function nearestExisting(path: string): { readonly place: string | null; readonly exists: boolean } {
  for (let place = path; ; place = dirname(place)) {
    const found = lstatSync(place, { throwIfNoEntry: false });
    if (found === undefined && place !== dirname(place)) continue;
    const leads = statSync(place, { throwIfNoEntry: false }) !== undefined;
    return { place: leads ? place : null, exists: place === path };
  }
}

const MAX_LEVELS = 16;
/** In all, so that files which include one another many times come to an end. */
const MAX_INCLUDES = 1_000;

/** The files under way: the scenario's, and each that is included by the one before. */
export class IncludeChain {
  readonly #links: { readonly path: string; readonly name: string }[];
  #includes = 0;

  constructor(path: string, name: string) {
    this.#links = [{ path, name }];
  }

  /** Reads what a file holds, unless it is under way already, or too much is. */
  within(page: Page, at: number, path: string, name: string, read: () => void): void {
    this.#includes += 1;
    const chain = (): string => [...this.#links, { name }].map((link) => link.name).join(" → ");
    if (this.#links.some((link) => link.path === path))
      throw page.wrong(at, `the file includes itself: ${chain()}`);
    if (this.#links.length > MAX_LEVELS)
      throw page.wrong(at, `more than ${MAX_LEVELS} levels of include: ${chain()}`);
    if (this.#includes > MAX_INCLUDES) throw page.wrong(at, `more than ${MAX_INCLUDES} times include`);
    this.#links.push({ path, name });
    attempt(read);
    this.#links.pop();
  }
}

/** A file's text; or why it has none, with as much of the text as stands before the fault. */
type FileText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly message: string; readonly before: string };

/** Reads a file of at most `MAX_SCENARIO_BYTES` bytes of UTF-8, whatever else the path may lead to. */
export function readTextFile(path: string): FileText {
  let bytes: Buffer;
  try {
    bytes = readRegular(path, MAX_SCENARIO_BYTES);
  } catch (error) {
    return fault(whyUnread(error));
  }
  if (isUtf8(bytes)) return { ok: true, text: bytes.toString("utf8") };
  return fault("expected UTF-8 text, found a byte that is none", textBeforeFault(bytes));
}

const fault = (message: string, before = ""): FileText => ({ ok: false, message, before });

/** The longest beginning that is UTF-8, found by halving. */
function textBeforeFault(bytes: Buffer): string {
  let low = 0;
  let high = bytes.length;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (decoded(bytes.subarray(0, middle)) === null) high = middle;
    else low = middle;
  }
  return decoded(bytes.subarray(0, low)) ?? "";
}

/** The text of whole characters at the start; null where a byte is none of UTF-8. */
function decoded(bytes: Buffer): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
  } catch {
    return null;
  }
}

/** The largest file, in bytes; no text in it has more characters. */
export const MAX_SCENARIO_BYTES = 1_048_576;

/** In characters. */
const LONGEST_LINE = 65_536;

/** What no text holds: controls other than tab and line feed. */
const CONTROL = /[^\P{Cc}\t\n]/u;

/** A text that is too long, has a line that is, or controls in it is none that a person wrote. */
function requireLimits(page: Page): void {
  const { text } = page.source;
  if (text.length > MAX_SCENARIO_BYTES)
    throw page.wrong(0, `expected at most ${MAX_SCENARIO_BYTES} bytes, found more`);
  const control = text.search(CONTROL);
  if (control >= 0) {
    const code = text.charCodeAt(control).toString(16).toUpperCase().padStart(4, "0");
    throw page.wrong(control, `expected text, found the control character U+${code}`);
  }
  const line = endlessLine(text);
  if (line >= 0)
    throw page.wrong(line, `expected lines of at most ${LONGEST_LINE} characters, found a longer one`);
}

/** Where a line exceeds the limit, or -1. */
function endlessLine(text: string): number {
  for (let start = 0; text.length - start > LONGEST_LINE; ) {
    const end = text.indexOf("\n", start);
    if (end < 0 || end - start > LONGEST_LINE) return start + LONGEST_LINE;
    start = end + 1;
  }
  return -1;
}
