import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadScenario } from "../../src/scenario/language/read-scenario.ts";
import { needsHttp } from "../../src/scenario/language/steps.ts";
import { COLUMNS, FLOW_PROFILES } from "../../src/simulation/flow.ts";
import { namedPrivateKey } from "../../src/simulation/world-accounts.ts";
import { type Api, startApi } from "../support/http.ts";
import { type Ended, Program } from "../support/program.ts";
import { resultOf, scenarioAt } from "./run/scenario-folder.ts";

const PAGE = readFileSync(new URL("../../scenarios/README.md", import.meta.url), "utf8");
const SHOWN_URL = "http://127.0.0.1:7070";
const RUN_BELOW = ", run below";
const program = await Program.built();

/** Writes a file beside those of the page, and returns its path. */
function written(name: string, text: string): string {
  program.write(name, text);
  return program.path(name);
}

/** A fenced block, table or paragraph of the page, with the comment before it. */
interface Part {
  readonly mark: string;
  /** Language of a fenced block. */
  readonly kind: string;
  readonly text: string;
  readonly line: number;
}

const PART =
  /^(?:<!-- (?<mark>.*) -->\n)?(?:```(?<language>\w*)\n(?<block>[\s\S]*?)^```$|(?<prose>(?!```|<!--)[^\n]+(?:\n(?!```|<!--|#)[^\n]+)*))/gm;

const PARTS: readonly Part[] = [...PAGE.matchAll(PART)].map(({ index, groups = {} }) => ({
  mark: groups.mark ?? "",
  kind: groups.language ?? (groups.prose?.startsWith("|") ? "table" : "prose"),
  text: groups.block ?? groups.prose ?? "",
  line: PAGE.slice(0, index).split("\n").length,
}));

const partsWith = (mark: string): Part[] => PARTS.filter((part) => part.mark === mark);
const partOf = (mark: string): Part => partsWith(mark)[0] ?? { mark, kind: "", text: "", line: 0 };
const spansIn = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map((found) => found[1] ?? "");
const isFile = ({ mark }: Part): boolean => mark.startsWith("file ");
const nameOf = (part: Part): string =>
  isFile(part) ? part.mark.replace("file ", "").replace(RUN_BELOW, "") : `line-${part.line}.yaml`;

const FENCED = PARTS.filter(({ kind }) => kind !== "table" && kind !== "prose");
const FILES = PARTS.filter(isFile);
const WHOLE = PARTS.filter(({ kind, text }) => kind === "yaml" && text.startsWith("scenario:"));
const CONSOLES = PARTS.filter(({ kind }) => kind === "console");

/** Steps of the page, under the header that the page states for them. */
const framed = (steps: string): string =>
  partOf("frame").text.replace(/(?<=^steps:\n).*/ms, () => steps.replace(/^(?=.)/gm, "  "));

/** Invalid steps of one line, each with its comment, or an empty one. */
const WRONG_STEPS = partsWith("wrong steps").flatMap(({ text }) =>
  text
    .trimEnd()
    .split("\n")
    .map((line): [step: string, message: string] => {
      const [step = "", message = ""] = line.split(/ +# /);
      return [step, message];
    }),
);

const problemsOf = (path: string): string[] =>
  loadScenario(path).problems.map(({ message, hint }) => (hint === null ? message : `${message} (${hint})`));

/** Runs a file over HTTP and, if possible, in this process, with equal results. */
async function passesBothWays(path: string): Promise<void> {
  const scenario = scenarioAt(path);
  const there = await resultOf(scenario, { via: "http" });
  expect(there.failure).toBeNull();
  if (needsHttp(scenario)) return;
  const here = await resultOf(scenario);
  expect(here.failure).toBeNull();
  expect(here.transcript).toEqual(there.transcript);
}

const KEYS = { ALICE_KEY: namedPrivateKey("alice"), BOB_KEY: namedPrivateKey("bob"), NO_COLOR: "1" };

const commandOf = ({ text }: Part): string => /^\$ clobsim (.*)$/m.exec(text)?.[1] ?? "";

/** Replaces durations, folders and ports, which vary. */
const comparable = (text: string, url: string): string =>
  text
    .replaceAll(`${program.folder}/`, "")
    .replaceAll(url, SHOWN_URL)
    .replace(/\b\d+(?:\.\d+)? m?s(?=$| ·)/gm, "N ms")
    .trimEnd();

/** Returns the pattern of an example output; a line of three dots stands for any lines. */
const patternOf = (shown: string): RegExp =>
  new RegExp(
    `^${shown
      .split("\n")
      .map((line) => (line.trim() === "..." ? "[\\s\\S]*?" : line.replace(/[$()*+.?[\\\]^{|}]/g, "\\$&")))
      .join("\n")}$`,
  );

const printed = new Map<Part, Ended>();
let api: Api;

beforeAll(async () => {
  for (const file of FILES) written(nameOf(file), file.text);
  api = await startApi();
  await api.createMarket({ slug: "will-it-rain" });
  for (const part of CONSOLES) {
    const words = commandOf(part).replace(SHOWN_URL, `http://127.0.0.1:${api.port}`).split(" ");
    printed.set(part, await program.run(words, { environment: KEYS }));
  }
});

afterAll(async () => {
  await api.close();
  await program.dispose();
});

describe("the tutorial of the scenario language", () => {
  const titled = (parts: readonly Part[]) => parts.map((part) => [part.line, part] as const);

  it("has only tested blocks", () => {
    const isTested = (part: Part): boolean =>
      isFile(part) || WHOLE.includes(part) || CONSOLES.includes(part) || /^(?:wrong )?steps$/.test(part.mark);
    expect(FENCED.filter((part) => !isTested(part))).toEqual([]);
    expect(PAGE.match(/^ *```/gm)).toHaveLength(2 * FENCED.length);
    expect(PAGE.match(/<!--/g)).toHaveLength(PARTS.filter(({ mark }) => mark !== "").length);
    const commands = CONSOLES.map(commandOf).join("\n");
    const others = PARTS.filter((part) => !isFile(part)).map(({ text }) => text);
    for (const file of FILES.filter((part) => part.mark.endsWith(RUN_BELOW) || !WHOLE.includes(part))) {
      expect(WHOLE.includes(file) ? commands : others.join("\n")).toContain(nameOf(file));
    }
  });

  it.each(titled(WHOLE.filter(({ mark }) => !mark.endsWith(RUN_BELOW))))(
    "shows a scenario that passes, line %i",
    (_line, part) => passesBothWays(written(nameOf(part), part.text)),
  );

  it.each(titled(partsWith("steps")))("shows steps that pass, line %i", (line, { text }) =>
    passesBothWays(written(`steps-${line}.yaml`, framed(text))),
  );

  it.each(WRONG_STEPS)("reports the problem of %s", (step, message) => {
    expect(problemsOf(written("wrong-step.yaml", framed(step)))).toEqual([message]);
  });

  it.each(titled(CONSOLES))("shows the output of the program, line %i", (_line, part) => {
    const { code, stdout, stderr } = printed.get(part) as Ended;
    const shown = part.text.replace(/^\$ .*\n/, "");
    const url = `http://127.0.0.1:${api.port}`;
    expect(comparable(stdout + stderr, url)).toMatch(patternOf(comparable(shown, url)));
    expect(`exit ${code}`).toBe(part.mark || "exit 0");
  });

  it("lists every column and every profile of flows", () => {
    const cells = partOf("columns").text.replace(/^(\| [^|]*\|).*$/gm, "$1");
    expect(spansIn(cells)).toEqual(COLUMNS);
    expect(spansIn(partOf("profiles").text)).toEqual(FLOW_PROFILES);
  });
});

describe("the limits on the page", () => {
  const include = (name: string): string => `- include: ${name}\n`;
  const race = (steps: number): string => `- race: [${"{ alice: cancel all }, ".repeat(steps)}]\n`;
  const repeat = (times: number, step: string): string =>
    `- { repeat: ${times}, steps: [${step.replace(/^- /, "").trim()}] }\n`;
  const named = (length: number, seed: string): string =>
    `scenario: ${"x".repeat(length)}\nseed: ${seed}\nsteps: [advance: 1s]\n`;
  const beyond: readonly (readonly [limit: string, text: () => string])[] = [
    ["1,048,576 bytes", () => "# x\n".repeat(300_000)],
    ["65,536 characters", () => `# ${"x".repeat(65_536)}\n`],
    ["32 levels", () => `steps: ${"[".repeat(40)}`],
    ["100,000 steps", () => framed(include("_half.yaml").repeat(2))],
    ["16 levels", () => framed(include("_level-0.yaml"))],
    ["6 steps", () => framed(race(7))],
    ["5,040 runs", () => framed(race(6).repeat(2))],
    ["200 characters", () => named(201, "1")],
    ["128 characters", () => named(1, "y".repeat(129))],
    ["64 characters", () => `scenario: x\nmarkets: { ${"y".repeat(65)}: {} }\nsteps: [advance: 1s]\n`],
  ];

  it.each(beyond)("are correct: %s", (limit, text) => {
    written("_half.yaml", repeat(500, "{ advance: 1s }, ".repeat(101)));
    for (let level = 0; level < 20; level += 1)
      written(`_level-${level}.yaml`, include(`_level-${level + 1}.yaml`));
    written("_level-20.yaml", "- advance: 1s\n");
    expect(partOf("limits").text.replaceAll("\n", " ")).toContain(limit);
    expect(problemsOf(written("beyond.yaml", text())).join("\n")).toContain(limit.replaceAll(",", ""));
  });
});
