import { readdirSync, readFileSync } from "node:fs";
import { basename, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { type ImportDeclaration, type Node, type Program, parseSync } from "oxc-parser";
import { describe, expect, it } from "vitest";
import { paddedTable } from "./support/markdown.ts";
import { rowsOf } from "./support/table.ts";

interface Layer {
  readonly folder: string;
  readonly holds: string;
  /** Folders of src and files at its root; "core (readers)" means the core without modules that decide or write. */
  readonly mayImport?: readonly string[];
  readonly packages?: readonly string[];
  /** Allowed modules of Node; by default all, but none in the core. */
  readonly node?: readonly string[];
}

const SRC = fileURLToPath(new URL("../src", import.meta.url));
const LAYERS: readonly Layer[] = JSON.parse(readFileSync(`${SRC}/layers.json`, "utf8"));
const LAYER_OF = new Map(LAYERS.map((layer) => [layer.folder, layer]));

/** Modules that decide or write. Folders that may only read the core import only types from them. */
const WRITERS = /^core\/rules\//;

/** Files at the root of src that users import. */
const { exports } = JSON.parse(readFileSync(`${SRC}/../package.json`, "utf8")) as {
  readonly exports: object;
};
const ENTRIES = new Set(
  Object.keys(exports).map((name) => (name === "." ? "index.ts" : `${name.slice(2)}.ts`)),
);

const FORBIDDEN_IN_CORE = new Set(
  `Date Intl performance setTimeout setInterval setImmediate queueMicrotask Promise process globalThis
   toFixed localeCompare randomUUID randomBytes crypto require console`.split(/\s+/),
);
const MAX_FILE_LINES = 600;
const MAX_FUNCTION_LINES = 80;
const KEBAB_CASE = /^[a-z\d]+(?:-[a-z\d]+)*(?:\.d)?\.tsx?$/;
const VAGUE_NAME = /(?:^|-)(?:utils?|helpers?|common|managers?|misc)(?:-|\.)|^types\./;

/** A parsed file of src; `lineOf` counts from 1. */
interface Source {
  readonly fileName: string;
  readonly text: string;
  readonly program: Program;
  readonly lineOf: (position: number) => number;
}

/** A violation of a rule: `src/<path>:<line> <found>: <rule>`. */
type Rule = (source: Source, report: (node: Node, finding: string) => void) => void;

interface Import {
  readonly node: Node;
  readonly specifier: string;
  readonly isType: boolean;
}

/** Visits a node and its descendants, each with its parent. */
function walk(node: Node, visit: (node: Node, parent: Node) => void, parent = node): void {
  visit(node, parent);
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (isNode(child)) walk(child, visit, node);
    }
  }
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";

function importsOf({ program }: Source): Import[] {
  const found: Import[] = [];
  const add = (node: Node, source: Node | null, isType: boolean): void => {
    if (source === null) return;
    const isText = source.type === "Literal" && typeof source.value === "string";
    found.push({ node, specifier: isText ? String(source.value) : "(computed)", isType });
  };
  walk(program, (node) => {
    if (node.type === "ImportDeclaration") add(node, node.source, isTypeImport(node));
    if (node.type === "ExportNamedDeclaration" || node.type === "ExportAllDeclaration")
      add(node, node.source, node.exportKind === "type");
    if (node.type === "TSImportType") add(node, node.source, true);
    if (node.type === "TSExternalModuleReference") add(node, node.expression, false);
    if (node.type === "ImportExpression") add(node, node.source, false);
  });
  return found;
}

const isTypeImport = ({ importKind, specifiers }: ImportDeclaration): boolean =>
  importKind === "type" ||
  (specifiers.length > 0 &&
    specifiers.every((each) => each.type === "ImportSpecifier" && each.importKind === "type"));

const folderOf = (path: string): string => path.split("/")[0] as string;
const nameOf = (allowed: string): string => allowed.replace(" (readers)", "");
/** Whether a folder is another or contains it. */
const isAround = (outer: string, folder: string): boolean => `${folder}/`.startsWith(`${outer}/`);
const packageOf = (specifier: string): string =>
  specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");

const arrows: Rule = (source, report) => {
  const from = folderOf(source.fileName);
  const allowed = LAYER_OF.get(from)?.mayImport;
  if (allowed === undefined) report(source.program, `${from} is not in src/layers.json: give it a row`);
  for (const { node, specifier, isType } of importsOf(source)) {
    if (!specifier.startsWith(".")) continue;
    const path = posix.join(posix.dirname(source.fileName), specifier);
    const to = folderOf(path);
    if (to === from || allowed?.includes(to)) continue;
    if (allowed?.includes(`${to} (readers)`) && (isType || !WRITERS.test(path))) continue;
    report(node, `imports "${specifier}": ${from} may import ${allowed?.join(", ") || "nothing"}`);
  }
};

const homes: Rule = (source, report) => {
  const layer = LAYER_OF.get(folderOf(source.fileName));
  for (const { node, specifier } of importsOf(source)) {
    if (specifier.startsWith(".")) continue;
    if (specifier.startsWith("node:")) {
      if (layer?.node === undefined || layer.node.includes(specifier)) continue;
      const allowed = layer.node.join(", ") || "no module";
      report(node, `imports "${specifier}": this folder may use ${allowed} of Node`);
      continue;
    }
    const name = packageOf(specifier);
    if (layer?.packages?.includes(name)) continue;
    const users = LAYERS.filter(({ packages }) => packages?.includes(name)).map(({ folder }) => folder);
    report(node, `imports "${specifier}": used in ${users.join(", ") || "no folder yet"}`);
  }
};

const pureCore: Rule = ({ fileName, program }, report) => {
  if (!fileName.startsWith("core/")) return;
  walk(program, (node, parent) => {
    const name = forbiddenName(node, parent);
    if (name !== undefined) report(node, `uses ${name}: the core is pure and the same on every machine`);
  });
};

function forbiddenName(node: Node, parent: Node): string | undefined {
  if ("operator" in node && String(node.operator).startsWith("**")) return "**";
  if ("async" in node && node.async === true) return "async";
  if (node.type === "AwaitExpression") return "await";
  if (node.type !== "Identifier") return undefined;
  if (FORBIDDEN_IN_CORE.has(node.name) || node.name.startsWith("toLocale")) return node.name;
  if (node.name !== "Math") return undefined;
  const isRead = parent.type === "MemberExpression" && parent.object === node;
  const member = isRead && parent.property.type === "Identifier" ? parent.property.name : undefined;
  return member === undefined || member === "random" || member === "pow"
    ? `Math.${member ?? "(computed)"}`
    : undefined;
}

const lengths: Rule = ({ program, text, lineOf }, report) => {
  const lines = lineOf(text.trimEnd().length);
  if (lines > MAX_FILE_LINES) report(program, `has ${lines} lines: a file has at most ${MAX_FILE_LINES}`);
  walk(program, (node) => {
    if (!/Function/.test(node.type)) return;
    const length = lineOf(node.end) - lineOf(node.start) + 1;
    const found = `a function of ${length} lines: one has at most ${MAX_FUNCTION_LINES}`;
    if (length > MAX_FUNCTION_LINES) report(node, found);
  });
};

const names: Rule = ({ fileName, program }, report) => {
  const name = basename(fileName);
  if (!KEBAB_CASE.test(name)) report(program, "is not kebab-case: file names are");
  if (VAGUE_NAME.test(name)) report(program, "has a vague name: a file has one noun or one verb");
  if (name === "index.ts" && fileName !== "index.ts")
    report(program, "is a barrel: only src/index.ts is one");
};

/** Biome refuses enums, any and `!`. */
const plainTypeScript: Rule = ({ fileName, program }, report) => {
  walk(program, (node) => {
    const isExport = node.type === "ExportNamedDeclaration" || node.type === "ExportAllDeclaration";
    if (isExport && node.source !== null && !ENTRIES.has(fileName))
      report(node, "exports names of another file: only files that users import do");
  });
  const imported = new Set(
    program.body.flatMap((each) =>
      each.type === "ImportDeclaration" ? each.specifiers.map(({ local }) => local.name) : [],
    ),
  );
  for (const statement of program.body) {
    if (statement.type === "ExportNamedDeclaration" && !ENTRIES.has(fileName)) {
      for (const { local } of statement.specifiers) {
        if (local.type === "Identifier" && imported.has(local.name))
          report(statement, "exports names of another file: only files that users import do");
      }
    }
    const declared = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
    if (declared?.type !== "VariableDeclaration" || declared.kind === "const") continue;
    if (!fileName.endsWith(".d.ts"))
      report(statement, "has state at module level, but one process can have two exchanges");
  }
};

const madeFolders: Rule = ({ fileName, program, text }, report) => {
  walk(program, (node) => {
    if (node.type !== "CallExpression" || fileName === "make-folder.ts") return;
    if (/\bmkdir(?:Sync)?$/.test(text.slice(node.callee.start, node.callee.end)))
      report(node, "makes a folder: makeFolder does, because Node may never return for a folder in /proc");
  });
};

function importGraph(files: readonly Source[]): ReadonlyMap<string, readonly string[]> {
  const target = (source: Source, specifier: string) => posix.join(posix.dirname(source.fileName), specifier);
  return new Map(
    files.map((source) => [
      source.fileName,
      importsOf(source)
        .filter(({ specifier }) => specifier.startsWith("."))
        .map(({ specifier }) => target(source, specifier)),
    ]),
  );
}

/** Returns the strongly connected components of more than one file (Tarjan 1972), each sorted by name. */
function cyclesOf(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const cycles: string[][] = [];
  const visit = (file: string): number => {
    const index = order.size;
    let low = index;
    order.set(file, index);
    open.push(file);
    for (const next of graph.get(file) ?? []) {
      if (!order.has(next)) low = Math.min(low, visit(next));
      else if (open.includes(next)) low = Math.min(low, lowest.get(next) ?? order.get(next) ?? low);
    }
    lowest.set(file, low);
    if (low === index) {
      const cycle = open.splice(open.indexOf(file));
      if (cycle.length > 1) cycles.push(cycle.sort());
    }
    return low;
  };
  for (const file of graph.keys()) if (!order.has(file)) visit(file);
  return cycles;
}

function layerTable(): string {
  const code = (names: readonly string[] = []) => names.map((name) => `\`${name}\``).join(", ");
  const rows = LAYERS.map(({ folder, holds, mayImport, packages }) => [
    `\`${folder}\``,
    holds,
    mayImport === undefined ? "" : mayImport.join(", ") || "nothing",
    code(packages),
  ]);
  return `${paddedTable([["folder", "holds", "may import", "packages"], ...rows]).join("\n")}\n`;
}

const RULES = { arrows, homes, pureCore, lengths, names, plainTypeScript, madeFolders };

function parsed(fileName: string, text: string): Source {
  const { program, errors } = parseSync(fileName, text);
  if (errors[0] !== undefined) throw new Error(`${fileName}: ${errors[0].message}`);
  const lineOf = (position: number): number => text.slice(0, position).split("\n").length;
  return { fileName, text, program, lineOf };
}

function findings(source: Source, rule: Rule): string[] {
  const found: string[] = [];
  rule(source, (node, finding) =>
    found.push(`src/${source.fileName}:${source.lineOf(node.start)} ${finding}`),
  );
  return found;
}

const entries = readdirSync(SRC, { recursive: true, withFileTypes: true });
const pathOf = (entry: (typeof entries)[number]): string =>
  posix.join(entry.parentPath.slice(SRC.length + 1).replaceAll("\\", "/"), entry.name);
const sources = entries
  .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
  .map((entry) => parsed(pathOf(entry), readFileSync(`${SRC}/${pathOf(entry)}`, "utf8")));

describe("every file of src", () => {
  it.each([
    ["imports only what src/layers.json allows", arrows],
    ["uses a package only in the folders that name it", homes],
    ["in the core is pure and deterministic", pureCore],
    ["is short, and so are its functions", lengths],
    ["is named in kebab-case by one noun or one verb", names],
    ["is plain TypeScript without state at module level", plainTypeScript],
    ["makes folders by makeFolder", madeFolders],
  ])("%s", (_title, rule) => {
    const found = sources.flatMap((source) => findings(source, rule));
    if (found.length > 0) expect.fail(found.join("\n"));
  });

  it("is in a folder that src/layers.json describes", () => {
    const folders = entries.filter((entry) => entry.isDirectory()).map(pathOf);
    expect(folders.filter((folder) => !LAYER_OF.has(folder))).toEqual([]);
  });

  it("is in no import cycle, types and import() included", () => {
    const cycles = cyclesOf(importGraph(sources)).map((cycle) => cycle.join(" "));
    expect(cycles).toEqual([]);
  });

  it("is in a folder that is in no import cycle, apart from those with a folder within it or around it", () => {
    const graph = new Map<string, string[]>();
    const placeOf = (file: string): string => (file.includes("/") ? posix.dirname(file) : file);
    for (const [file, targets] of importGraph(sources)) {
      const from = placeOf(file);
      const others = targets.map(placeOf).filter((to) => !isAround(from, to) && !isAround(to, from));
      graph.set(from, [...(graph.get(from) ?? []), ...others]);
    }
    expect(cyclesOf(graph)).toEqual([]);
  });

  it("uses all that src/layers.json allows", () => {
    const used = new Set(
      sources.flatMap((source) =>
        importsOf(source).map(({ specifier }) => {
          const isOwn = specifier.startsWith(".");
          const path = isOwn ? posix.join(posix.dirname(source.fileName), specifier) : specifier;
          const name = isOwn ? folderOf(path) : path.startsWith("node:") ? path : packageOf(path);
          return `${folderOf(source.fileName)} ${name}`;
        }),
      ),
    );
    const allowed = LAYERS.flatMap(({ folder, mayImport = [], packages = [], node = [] }) =>
      [...mayImport.map(nameOf), ...packages, ...node].map((name) => `${folder} ${name}`),
    );
    expect(allowed.filter((each) => !used.has(each))).toEqual([]);
  });

  it("is in a folder that may import no folder that may import it, even through others", () => {
    const graph = new Map(LAYERS.map(({ folder, mayImport = [] }) => [folder, mayImport.map(nameOf)]));
    expect(cyclesOf(graph)).toEqual([]);
  });

  it("has its folder in the map's table", async () => {
    const path = `${SRC}/README.md`;
    const made = readFileSync(path, "utf8").replace(
      /(<!-- layers -->\n)[\s\S]*(<!-- \/layers -->)/,
      `$1${layerTable()}$2`,
    );
    await expect(made).toMatchFileSnapshot(path);
  });
});

describe("every rule finds a violation", () => {
  it.each(
    rowsOf(`
    arrows          | core/a.ts           | import { b } from "../api/b.ts";                | core may import nothing
    arrows          | core/a.ts           | import type { B } from "../api/b.ts";           | core may import nothing
    arrows          | api/a.ts            | const b = await import("../server/b.ts");       | api may import core
    arrows          | api/a.ts            | type B = import("../server/b.ts").B;            | api may import core
    arrows          | api/a.ts            | export { b } from "../server/b.ts";             | api may import core
    arrows          | server/routes/a.ts  | import "../../chain-rpc/b.ts";                  | server may import core (readers), engine
    arrows          | server/a.ts         | import { apply } from "../core/rules/rules.ts"; | server may import core (readers)
    arrows          | server/a.ts         | import { type A, b } from "../core/rules/b.ts"; | server may import core (readers)
    arrows          | api/a.ts            | import { config } from "../config.ts";          | api may import core
    arrows          | misc/a.ts           | .                                               | misc is not in src/layers.json
    homes           | api/a.ts            | import express from "express";                  | used in server
    homes           | server/a.ts         | import { sha256 } from "@noble/hashes/sha2";    | used in core, simulation, api
    homes           | server/a.ts         | import leftPad from "left-pad";                 | used in no folder yet
    homes           | core/a.ts           | import { readFileSync } from "node:fs";         | no module of Node
    pureCore        | core/a.ts           | const now = Date.now();                         | uses Date
    pureCore        | core/a.ts           | const n = Math.random();                        | uses Math.random
    pureCore        | core/a.ts           | const { random } = Math;                        | uses Math.(computed)
    pureCore        | core/a.ts           | const n = 10 ** 4;                              | uses **
    pureCore        | core/a.ts           | let n = 2; n **= 4;                             | uses **
    pureCore        | core/a.ts           | export async function f() {}                    | uses async
    pureCore        | core/a.ts           | await f();                                      | uses await
    pureCore        | core/a.ts           | const text = (1).toFixed(2);                    | uses toFixed
    pureCore        | core/a.ts           | const text = (1).toLocaleString();              | uses toLocaleString
    names           | core/orderBook.ts   | .                                               | is not kebab-case
    names           | core/order-utils.ts | .                                               | vague name
    names           | core/index.ts       | .                                               | is a barrel
    plainTypeScript | api/a.ts            | export * from "./b.ts";                         | only files that users import do
    plainTypeScript | api/a.ts            | import { b } from "./b.ts"; export { b };       | only files that users import do
    plainTypeScript | api/a.ts            | let count = 0;                                  | state at module level
    madeFolders     | cli/a.ts            | fs.mkdirSync(path, { recursive: true });        | makeFolder does
    `),
  )("by %s in %s: %s", (rule = "", path = "", text = "", finding = "") => {
    expect(findings(parsed(path, text), RULES[rule as keyof typeof RULES]).join("\n")).toContain(finding);
  });

  it.each<[keyof typeof RULES, string, string]>([
    ["arrows", "server/a.ts", 'import type { A } from "../core/a.ts";'],
    ["arrows", "server/a.ts", 'import { type A, type B } from "../core/a.ts";'],
    ["pureCore", "core/a.ts", "// Date, await and 10 ** 4\nexport const a = `Promise` + 'Date';"],
    ["pureCore", "core/a.ts", "export const a = Math.floor(1.5);"],
    ["pureCore", "engine/a.ts", "export const now = () => Date.now();"],
    ["names", "core/order-types.ts", ""],
  ])("and accepts valid code: %s in %s: %s", (rule, path, text) => {
    expect(findings(parsed(path, text), RULES[rule])).toEqual([]);
  });

  it("by cycles: through a type, and through import()", () => {
    const files = [
      parsed("core/a.ts", 'import type { B } from "./b.ts";'),
      parsed("core/b.ts", 'const c = () => import("./c.ts");'),
      parsed("core/c.ts", 'import { a } from "./a.ts";'),
      parsed("core/d.ts", 'import { a } from "./a.ts";'),
    ];
    expect(cyclesOf(importGraph(files))).toEqual([["core/a.ts", "core/b.ts", "core/c.ts"]]);
    expect(cyclesOf(importGraph(files.slice(1)))).toEqual([]);
  });

  it("by length: a file of 601 lines, a function of 81", () => {
    const file = (lines: number): string => "// a line\n".repeat(lines);
    const ofLines = (lines: number): string => `export const f = () => {${"\n".repeat(lines - 1)}};\n`;
    expect(findings(parsed("core/a.ts", file(601)), lengths).join()).toContain("has 601 lines");
    expect(findings(parsed("core/a.ts", ofLines(81)), lengths).join()).toContain("a function of 81 lines");
    expect(findings(parsed("core/a.ts", file(600)), lengths)).toEqual([]);
    expect(findings(parsed("core/a.ts", ofLines(80)), lengths)).toEqual([]);
  });
});
