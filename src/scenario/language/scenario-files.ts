import { dirname, join, relative, sep } from "node:path";
import { treeOf } from "./build-tree.ts";
import { ScenarioFolder } from "./inside-folder.ts";
import { Page } from "./page.ts";
import { parseYaml } from "./parse-yaml.ts";
import type { ProblemList } from "./problem-list.ts";
import { readTextFile } from "./read-text-file.ts";
import { SourceText } from "./source-text.ts";
import { exceedsLimits } from "./text-limits.ts";
import { textOf } from "./values.ts";
import type { Node } from "./yaml-tree.ts";

/** A file that is being read. */
export interface OpenFile {
  readonly page: Page;
  /** Absolute path of its folder. */
  readonly folder: string;
  readonly root: Node;
}

/** The files of one scenario: its own, and those that its paths lead to. */
export class ScenarioFiles {
  readonly #problems: ProblemList;
  readonly #folder: ScenarioFolder;
  /** The scenario's file as the user named it. */
  readonly #file: string;
  readonly #parts = new Map<string, OpenFile | null>();

  /** `folder`: where the scenario's own file lies. */
  constructor(file: string, folder: string, problems: ProblemList) {
    this.#file = file;
    this.#folder = new ScenarioFolder(folder);
    this.#problems = problems;
  }

  /** The scenario's own file; null with problems when it cannot be taken apart. */
  open(text: string): OpenFile | null {
    return this.#open(this.#file, text, this.#folder.path);
  }

  /** A file with steps to include, read once however often it is included. */
  part(path: string): OpenFile | null {
    const known = this.#parts.get(path);
    if (known !== undefined) return known;
    const part = this.#openPart(path);
    this.#parts.set(path, part);
    return part;
  }

  /** The absolute path that a file names; null with a problem when it leads nowhere, or out of the scenario's folder. */
  pathAt(
    { page, folder }: OpenFile,
    node: Node,
    need: "must exist" | "may be missing" = "must exist",
  ): string | null {
    const text = textOf(page, node, "a path");
    if (text === null) return null;
    const followed = this.#folder.follow(text, folder);
    if (!followed.ok) return page.wrong(node.start, followed.message, followed.hint);
    if (followed.exists || need === "may be missing") return followed.path;
    return page.wrong(node.start, `there is no file ${this.nameOf(followed.path)}`);
  }

  /** A file as the user would name it. */
  nameOf(path: string): string {
    return join(dirname(this.#file), relative(this.#folder.path, path)).split(sep).join("/");
  }

  #openPart(path: string): OpenFile | null {
    const file = this.nameOf(path);
    const read = readTextFile(path);
    if (read.ok) return this.#open(file, read.text, dirname(path));
    const page = new Page(new SourceText(file, read.before), this.#problems);
    return page.wrong(page.source.text.length, read.message);
  }

  #open(file: string, text: string, folder: string): OpenFile | null {
    const page = new Page(new SourceText(file, text), this.#problems);
    if (exceedsLimits(page)) return null;
    const parsed = parseYaml(page);
    const root = parsed === undefined ? null : treeOf(page, parsed);
    return root && { page, folder, root };
  }
}
