import { existsSync, lstatSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { codePointText } from "../../core/format.ts";
import { invalidUtf8Offset, NOT_UTF8, readFailure, readRegular, withSlashes } from "../../regular-file.ts";
import type { Declarations } from "./declarations.ts";
import { attempt, type Node, Page, type ProblemList, UNREADABLE } from "./page.ts";
import { readTree } from "./yaml.ts";

/** Endings of scenario files and of files with included steps. */
const SCENARIO_ENDINGS = [".yaml", ".yml", ".scenario.json"] as const;

export const isScenarioFile = (path: string): boolean =>
  SCENARIO_ENDINGS.some((ending) => path.toLowerCase().endsWith(ending));

/** The files being read, and the names declared so far. */
export interface Source {
  readonly files: ScenarioFiles;
  readonly declared: Declarations;
}

const LEADS_OUT = "expected a path in the scenario's folder, found a link that leads out of it";
const RULE = "paths are relative to the file that names them and stay in the scenario's folder";

/** The files of one scenario: its own, and those that its paths refer to, all in its folder. */
export class ScenarioFiles {
  readonly problems: ProblemList;
  /** Absolute path of the folder of the scenario's own file. */
  readonly #folder: string;
  readonly #file: string;
  readonly #parts = new Map<string, Node | undefined>();
  /** Absolute paths of the files that the scenario names, also of missing ones. */
  readonly named = new Set<string>();

  constructor(file: string, folder: string, problems: ProblemList) {
    this.#file = file;
    this.#folder = resolve(folder);
    this.problems = problems;
  }

  open(content: FileText): Node {
    return this.#open(this.#file, content, this.#folder);
  }

  /** Returns the content of an included file, which is read once. */
  part(path: string): Node {
    const open = (): Node => this.#open(this.nameOf(path), readTextFile(path), dirname(path));
    if (!this.#parts.has(path)) this.#parts.set(path, attempt(open));
    const part = this.#parts.get(path);
    if (part === undefined) throw UNREADABLE;
    return part;
  }

  pathAt(node: Node, need: "must exist" | "may be missing" = "must exist"): string {
    const text = node.textFor("a path");
    const problem = pathProblem(text);
    if (problem !== null) throw node.wrong(problem, RULE);
    const path = resolve(node.page.folder, text);
    if (!isWithin(this.#folder, path))
      throw node.wrong("expected a path in the scenario's folder, found one outside of it", RULE);
    const message = this.#linkProblem(path);
    if (message !== null) throw node.wrong(message, RULE);
    this.named.add(path);
    if (need === "may be missing" || existsSync(path)) return path;
    throw node.wrong(`there is no file ${this.nameOf(path)}`);
  }

  /** Returns a path as the user would write it. */
  nameOf(path: string): string {
    return withSlashes(join(dirname(this.#file), relative(this.#folder, path)));
  }

  /** Follows symbolic links. Returns why the path is not allowed; null if it is. */
  #linkProblem(path: string): string | null {
    try {
      const place = nearestExisting(path);
      const found = statSync(place, { throwIfNoEntry: false });
      if (found === undefined) return "the path leads through a broken link";
      if (!isWithin(realpathSync(this.#folder), realpathSync(place))) return LEADS_OUT;
      return place === path && !found.isFile() ? "expected a file, found a folder or a device" : null;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      return `the path cannot be followed: ${code ?? message}`;
    }
  }

  #open(file: string, content: FileText, folder: string): Node {
    const page = new Page(file, folder, content.text, this.problems);
    if (content.problem !== null) throw page.wrong(page.text.length, content.problem);
    requireLimits(page);
    return readTree(page);
  }
}

function pathProblem(path: string): string | null {
  if (/^[A-Za-z][A-Za-z\d+.-]*:/.test(path)) return "expected a relative path, found a URL or a drive";
  if (path.includes("\\")) return "expected a path with forward slashes, found a backslash";
  return isAbsolute(path) ? "expected a relative path, found an absolute one" : null;
}

function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Returns the path, a broken link included, or its innermost existing folder. */
function nearestExisting(path: string): string {
  const exists = lstatSync(path, { throwIfNoEntry: false }) !== undefined || path === dirname(path);
  return exists ? path : nearestExisting(dirname(path));
}

/** Text of a file; with a problem, the text before the invalid byte. */
export interface FileText {
  readonly text: string;
  /** Why the file cannot be read; null if it can. */
  readonly problem: string | null;
}

/** Reads a regular file of at most `MAX_SCENARIO_BYTES` bytes of UTF-8. */
export function readTextFile(path: string): FileText {
  let bytes: Buffer;
  try {
    bytes = readRegular(path, MAX_SCENARIO_BYTES);
  } catch (error) {
    return { text: "", problem: readFailure(error) };
  }
  const end = invalidUtf8Offset(bytes);
  if (end < 0) return { text: bytes.toString("utf8"), problem: null };
  return { text: bytes.toString("utf8", 0, end), problem: NOT_UTF8 };
}

/** Maximum size of a file, in bytes. */
export const MAX_SCENARIO_BYTES = 1_048_576;

/** In characters. */
const MAX_LINE_LENGTH = 65_536;
const LONG_LINE = new RegExp(`(?<![^\\n])[^\\n]{${MAX_LINE_LENGTH + 1}}`);

/** Control characters other than tab and line feed. */
const CONTROL = /[^\P{Cc}\t\n]/u;

/** Reports a text that is too long, has too long a line, or contains control characters. */
function requireLimits(page: Page): void {
  const { text } = page;
  if (text.length > MAX_SCENARIO_BYTES)
    throw page.wrong(0, `expected at most ${MAX_SCENARIO_BYTES} bytes, found more`);
  const control = text.search(CONTROL);
  if (control >= 0) {
    const found = codePointText(text.charCodeAt(control));
    throw page.wrong(control, `expected text, found the control character ${found}`);
  }
  const line = text.search(LONG_LINE);
  const rule = `lines of at most ${MAX_LINE_LENGTH} characters`;
  if (line >= 0) throw page.wrong(line + MAX_LINE_LENGTH, `expected ${rule}, found a longer one`);
}
