import { readdirSync, readFileSync } from "node:fs";
import { basename, posix } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, it } from "vitest";

/** Folder or root file of src → what it may import from the others. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  world: ["core"],
  runtime: ["core"],
  wire: ["core"],
  store: ["core", "runtime", "regular-file.ts"],
  http: ["core (readers)", "runtime", "wire"],
  "chain-rpc": ["core", "runtime", "wire"],
  client: ["wire"],
  scenario: ["core", "runtime", "wire", "world", "client", "regular-file.ts"],
  inspector: [],
  "setting.ts": [],
  "regular-file.ts": [],
  "setting-values.ts": ["setting.ts", "core"],
  "config.ts": ["setting.ts", "setting-values.ts", "core", "world"],
  opening: ["config.ts", "setting.ts", "regular-file.ts", "core", "world", "runtime", "store"],
  history: ["core", "world", "runtime", "store", "opening", "wire", "regular-file.ts"],
  "compose.ts": [
    "reporting.ts",
    "config.ts",
    "setting.ts",
    "setting-values.ts",
    "opening",
    "history",
    "core",
    "world",
    "runtime",
    "wire",
    "store",
    "http",
    "chain-rpc",
    "scenario",
  ],
  "reporting.ts": ["config.ts", "opening", "history", "wire"],
  "scenario-server.ts": ["compose.ts", "config.ts", "core", "scenario"],
  cli: [
    "compose.ts",
    "config.ts",
    "setting.ts",
    "setting-values.ts",
    "regular-file.ts",
    "scenario-server.ts",
    "core",
    "wire",
    "world",
    "runtime",
    "store",
    "history",
    "client",
    "scenario",
    "fuzz",
  ],
  fuzz: [
    "compose.ts",
    "config.ts",
    "setting-values.ts",
    "regular-file.ts",
    "core",
    "wire",
    "world",
    "runtime",
    "store",
    "opening",
    "history",
    "http",
    "client",
    "scenario",
  ],
  "index.ts": ["compose.ts", "config.ts", "setting.ts", "scenario-server.ts", "wire", "client", "scenario"],
  "vitest.ts": ["scenario-server.ts", "scenario", "wire"],
};

/** What decides or writes: an edge that may read the core imports no more than types from here. */
const WRITERS = /^core\/(?:decide|apply)\.ts$|^core\/rules\//;

/** Package → the folders (or single files) where it is at home. */
const HOMES: Readonly<Record<string, readonly string[]>> = {
  "@faker-js/faker": ["world/"],
  "@noble/hashes": ["core/hash.ts", "wire/address.ts", "world/"],
  express: ["http/"],
  "fastest-levenshtein": ["wire/"],
  lowdb: ["store/"],
  minisearch: ["wire/"],
  papaparse: ["scenario/flow/"],
  picocolors: ["cli/", "http/request-log.ts"],
  pino: ["http/"],
  seedrandom: ["core/random.ts"],
  tinyglobby: ["scenario/run/"],
  viem: ["wire/", "chain-rpc/", "client/", "world/dev-accounts.ts"],
  vitest: ["vitest.ts"],
  yaml: ["scenario/"],
  yargs: ["cli/"],
  zod: ["wire/"],
};

/** Folders that are pure → the modules of Node that they may use all the same; every other folder may use all. */
const NODE_MODULES: Readonly<Record<string, readonly string[]>> = {
  core: [],
  wire: ["node:buffer", "node:crypto"],
};

const FORBIDDEN_IN_CORE = new Set(
  `Date Intl performance setTimeout setInterval setImmediate queueMicrotask Promise process globalThis
   toFixed localeCompare randomUUID randomBytes crypto require console`.split(/\s+/),
);
const MAX_FILE_LINES = 600;
const MAX_FUNCTION_LINES = 80;
const KEBAB_CASE = /^[a-z\d]+(?:-[a-z\d]+)*(?:\.d)?\.ts$/;
const VAGUE_NAME = /(?:^|-)(?:utils?|helpers?|common|managers?|misc)(?:-|\.)|^types\./;

/** What a rule has against a place: `src/<path>:<line> <what was found>: <the rule>`. */
type Rule = (source: ts.SourceFile, report: (node: ts.Node, finding: string) => void) => void;

interface Import {
  readonly node: ts.Node;
  readonly specifier: string;
  readonly isType: boolean;
}

const walk = (node: ts.Node, visit: (node: ts.Node) => void): void => {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
};

function importsOf(source: ts.SourceFile): Import[] {
  const found: Import[] = [];
  const add = (node: ts.Node, specifier: ts.Node | undefined, isType: boolean): void => {
    if (specifier === undefined) return;
    found.push({
      node,
      specifier: ts.isStringLiteralLike(specifier) ? specifier.text : "(computed)",
      isType,
    });
  };
  walk(source, (node) => {
    if (ts.isImportDeclaration(node)) add(node, node.moduleSpecifier, isTypeImport(node.importClause));
    if (ts.isExportDeclaration(node)) add(node, node.moduleSpecifier, node.isTypeOnly);
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
      add(node, node.argument.literal, true);
    if (ts.isExternalModuleReference(node)) add(node, node.expression, false);
    const isDynamic = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword;
    if (isDynamic) add(node, node.arguments[0], false);
  });
  return found;
}

function isTypeImport(clause: ts.ImportClause | undefined): boolean {
  if (clause === undefined) return false;
  if (clause.isTypeOnly) return true;
  const named = clause.namedBindings;
  return clause.name === undefined && named !== undefined && ts.isNamedImports(named)
    ? named.elements.length > 0 && named.elements.every(({ isTypeOnly }) => isTypeOnly)
    : false;
}

const folderOf = (path: string): string => path.split("/")[0] as string;
const packageOf = (specifier: string): string =>
  specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");

const arrows: Rule = (source, report) => {
  const from = folderOf(source.fileName);
  const allowed = MAY_IMPORT[from];
  if (allowed === undefined) report(source, `${from} is not in the table of architecture: give it a row`);
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
  for (const { node, specifier } of importsOf(source)) {
    if (specifier.startsWith(".")) continue;
    if (specifier.startsWith("node:")) {
      const allowed = NODE_MODULES[folderOf(source.fileName)];
      if (allowed === undefined || allowed.includes(specifier)) continue;
      report(
        node,
        `imports "${specifier}": this folder may use ${allowed.join(", ") || "no module"} of Node`,
      );
      continue;
    }
    const known = HOMES[packageOf(specifier)] ?? [];
    if (
      known.some(
        (home) => source.fileName === home || (home.endsWith("/") && source.fileName.startsWith(home)),
      )
    )
      continue;
    report(node, `imports "${specifier}": its home is ${known.join(", ") || "nowhere yet"}`);
  }
};

const pureCore: Rule = (source, report) => {
  if (!source.fileName.startsWith("core/")) return;
  walk(source, (node) => {
    const name = forbiddenName(node);
    if (name !== undefined) report(node, `uses ${name}: the core is pure and the same on every machine`);
  });
};

function forbiddenName(node: ts.Node): string | undefined {
  switch (node.kind) {
    case ts.SyntaxKind.AsteriskAsteriskToken:
    case ts.SyntaxKind.AsteriskAsteriskEqualsToken:
      return "**";
    case ts.SyntaxKind.AsyncKeyword:
      return "async";
    case ts.SyntaxKind.AwaitExpression:
    case ts.SyntaxKind.AwaitKeyword:
      return "await";
  }
  if (!ts.isIdentifier(node)) return undefined;
  if (FORBIDDEN_IN_CORE.has(node.text) || node.text.startsWith("toLocale")) return node.text;
  if (node.text !== "Math") return undefined;
  const access = node.parent;
  const member =
    ts.isPropertyAccessExpression(access) && access.expression === node ? access.name.text : undefined;
  return member === undefined || member === "random" || member === "pow"
    ? `Math.${member ?? "(computed)"}`
    : undefined;
}

const lengths: Rule = (source, report) => {
  const lineOf = (position: number): number => source.getLineAndCharacterOfPosition(position).line;
  const lines = lineOf(source.text.trimEnd().length) + 1;
  if (lines > MAX_FILE_LINES) report(source, `has ${lines} lines: a file has at most ${MAX_FILE_LINES}`);
  walk(source, (node) => {
    if (!ts.isFunctionLike(node)) return;
    const length = lineOf(node.end) - lineOf(node.getStart(source)) + 1;
    const found = `a function of ${length} lines: one has at most ${MAX_FUNCTION_LINES}`;
    if (length > MAX_FUNCTION_LINES) report(node, found);
  });
};

const names: Rule = (source, report) => {
  const name = basename(source.fileName);
  if (!KEBAB_CASE.test(name)) report(source, "is not kebab-case: file names are");
  if (VAGUE_NAME.test(name)) report(source, "has a vague name: a file has one noun or one verb");
  if (name === "index.ts" && source.fileName !== "index.ts")
    report(source, "is a barrel: only src/index.ts is one");
};

const plainTypeScript: Rule = (source, report) => {
  walk(source, (node) => {
    if (ts.isEnumDeclaration(node)) report(node, "declares an enum: a union of literals is enough");
    if (node.kind === ts.SyntaxKind.AnyKeyword) report(node, "says any: name the type, or unknown");
    if (ts.isNonNullExpression(node)) report(node, "says !: prove it with a check, or `as` beside the proof");
    if (
      ts.isExportDeclaration(node) &&
      node.moduleSpecifier !== undefined &&
      source.fileName !== "index.ts" &&
      !/^cli\/on-[a-z]+\.ts$/.test(source.fileName)
    ) {
      report(node, "exports what another file holds: only src/index.ts and src/cli/on-*.ts do");
    }
  });
  for (const statement of source.statements) {
    const isDeclared = source.isDeclarationFile || !ts.isVariableStatement(statement);
    if (isDeclared || (statement.declarationList.flags & ts.NodeFlags.Const) !== 0) continue;
    report(statement, "holds state at module level: two exchanges can live in one process");
  }
};

const RULES = { arrows, homes, pureCore, lengths, names, plainTypeScript };

const parsed = (path: string, text: string): ts.SourceFile =>
  ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true);

function findings(source: ts.SourceFile, rule: Rule): string[] {
  const found: string[] = [];
  rule(source, (node, finding) => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
    found.push(`src/${source.fileName}:${line + 1} ${finding}`);
  });
  return found;
}

const SRC = fileURLToPath(new URL("../src", import.meta.url));
const entries = readdirSync(SRC, { recursive: true, withFileTypes: true });
const pathOf = (entry: (typeof entries)[number]): string =>
  posix.join(entry.parentPath.slice(SRC.length + 1).replaceAll("\\", "/"), entry.name);
const sources = entries
  .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
  .map((entry) => parsed(pathOf(entry), readFileSync(`${SRC}/${pathOf(entry)}`, "utf8")));

describe("every file of src", () => {
  it.each([
    ["imports only what the table of architecture allows, edges never one another", arrows],
    ["uses a package only where it is at home", homes],
    ["in the core is pure and deterministic", pureCore],
    ["is short, and so are its functions", lengths],
    ["is named in kebab-case by one noun or one verb", names],
    ["is plain TypeScript without state at module level", plainTypeScript],
  ])("%s", (_title, rule) => {
    const found = sources.flatMap((source) => findings(source, rule));
    if (found.length > 0) expect.fail(found.join("\n"));
  });

  it("lies in a folder that src/README.md names", () => {
    const map = readFileSync(`${SRC}/README.md`, "utf8");
    const unnamed = entries
      .filter((entry) => entry.isDirectory() && !map.includes(`${entry.name}/`))
      .map(pathOf);
    if (unnamed.length > 0)
      expect.fail(unnamed.map((path) => `src/README.md does not name ${path}/`).join("\n"));
  });
});

describe("a planted fault is found", () => {
  it.each<[keyof typeof RULES, string, string, string]>([
    ["arrows", "core/a.ts", 'import { b } from "../wire/b.ts";', "core may import nothing"],
    ["arrows", "core/a.ts", 'import type { B } from "../wire/b.ts";', "core may import nothing"],
    ["arrows", "wire/a.ts", 'const b = await import("../http/b.ts");', "wire may import core"],
    ["arrows", "wire/a.ts", 'type B = import("../http/b.ts").B;', "wire may import core"],
    ["arrows", "wire/a.ts", 'export { b } from "../http/b.ts";', "wire may import core"],
    [
      "arrows",
      "http/routes/a.ts",
      'import "../../chain-rpc/b.ts";',
      "http may import core (readers), runtime",
    ],
    ["arrows", "http/a.ts", 'import { apply } from "../core/apply.ts";', "http may import core (readers)"],
    [
      "arrows",
      "http/a.ts",
      'import { type A, b } from "../core/rules/b.ts";',
      "http may import core (readers)",
    ],
    ["arrows", "wire/a.ts", 'import { config } from "../config.ts";', "wire may import core"],
    ["arrows", "misc/a.ts", "", "misc is not in the table"],
    ["homes", "wire/a.ts", 'import express from "express";', "its home is http/"],
    [
      "homes",
      "core/a.ts",
      'import { sha256 } from "@noble/hashes/sha2";',
      "its home is core/hash.ts, wire/address.ts, world/",
    ],
    ["homes", "http/a.ts", 'import leftPad from "left-pad";', "its home is nowhere yet"],
    ["homes", "core/a.ts", 'import { readFileSync } from "node:fs";', "no module of Node"],
    ["pureCore", "core/a.ts", "const now = Date.now();", "uses Date"],
    ["pureCore", "core/a.ts", "const n = Math.random();", "uses Math.random"],
    ["pureCore", "core/a.ts", "const { random } = Math;", "uses Math.(computed)"],
    ["pureCore", "core/a.ts", "const n = 10 ** 4;", "uses **"],
    ["pureCore", "core/a.ts", "let n = 2; n **= 4;", "uses **"],
    ["pureCore", "core/a.ts", "export async function f() {}", "uses async"],
    ["pureCore", "core/a.ts", "await f();", "uses await"],
    ["pureCore", "core/a.ts", "const text = (1).toFixed(2);", "uses toFixed"],
    ["pureCore", "core/a.ts", "const text = (1).toLocaleString();", "uses toLocaleString"],
    ["names", "core/orderBook.ts", "", "is not kebab-case"],
    ["names", "core/order-utils.ts", "", "vague name"],
    ["names", "core/index.ts", "", "is a barrel"],
    ["plainTypeScript", "wire/a.ts", "enum A { B }", "an enum"],
    ["plainTypeScript", "wire/a.ts", "let a = 1 as any;", "says any"],
    ["plainTypeScript", "wire/a.ts", "const a = b!;", "says !"],
    ["plainTypeScript", "wire/a.ts", 'export * from "./b.ts";', "only src/index.ts and src/cli/on-*.ts do"],
    ["plainTypeScript", "wire/a.ts", "let count = 0;", "state at module level"],
  ])("by %s in %s: %s", (rule, path, text, finding) => {
    expect(findings(parsed(path, text), RULES[rule]).join("\n")).toContain(finding);
  });

  it.each<[keyof typeof RULES, string, string]>([
    ["arrows", "http/a.ts", 'import type { A } from "../core/a.ts";'],
    ["arrows", "http/a.ts", 'import { type A, type B } from "../core/a.ts";'],
    ["pureCore", "core/a.ts", "// Date, await and 10 ** 4\nexport const a = `Promise` + 'Date';"],
    ["pureCore", "core/a.ts", "export const a = Math.floor(1.5);"],
    ["pureCore", "runtime/a.ts", "export const now = () => Date.now();"],
    ["names", "core/order-types.ts", ""],
  ])("and what is right is left alone: %s in %s: %s", (rule, path, text) => {
    expect(findings(parsed(path, text), RULES[rule])).toEqual([]);
  });

  it("by the lengths: a file of 601 lines, a function of 81", () => {
    const file = (lines: number): string => "// a line\n".repeat(lines);
    const ofLines = (lines: number): string => `export const f = () => {${"\n".repeat(lines - 1)}};\n`;
    expect(findings(parsed("core/a.ts", file(601)), lengths).join()).toContain("has 601 lines");
    expect(findings(parsed("core/a.ts", ofLines(81)), lengths).join()).toContain("a function of 81 lines");
    expect(findings(parsed("core/a.ts", file(600)), lengths)).toEqual([]);
    expect(findings(parsed("core/a.ts", ofLines(80)), lengths)).toEqual([]);
  });
});
