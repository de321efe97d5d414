import { SETTINGS } from "../config.ts";
import type { Setting } from "../setting.ts";
import { ORIGIN, SHARD, truth, wholeNumber } from "../setting.ts";
import type { Flag } from "./command.ts";

const HOW = "How:";
const WHICH = "Which:";
const OUTPUT = "Output:";

/** The flags of `clobsim run`, as its help shows them. */
export const RUN_FLAGS: readonly Flag[] = [
  {
    name: "via",
    group: HOW,
    text: "process, or http: a real server and real signatures",
    otherwise: "process; http where a step needs it",
  },
  { name: "target", group: HOW, text: "URL of a deployment to run on instead; needs --wallets" },
  { name: "wallets", group: HOW, text: "File with the wallets, markets and funds there" },
  { name: "seed", group: HOW, text: "Seed of every scenario, instead of its own" },
  {
    name: "repeat",
    group: HOW,
    text: "Run each so often; every run must end in the same state",
    otherwise: "1",
  },
  { name: "step", group: HOW, text: "Stop after this step and print all that happened" },
  {
    name: "update",
    group: HOW,
    text: "Write golden files and state hashes instead of comparing them",
    toggle: "on",
  },
  { name: "watch", group: HOW, text: "Run again when a file changes", toggle: "on" },
  { name: "grep", group: WHICH, text: "Only scenarios whose name or file matches this regular expression" },
  { name: "shard", group: WHICH, text: "Only the i-th of n equal parts of the suite, as i/n" },
  { name: "bail", group: WHICH, text: "Stop after the first failure", toggle: "on" },
  {
    name: "reporter",
    group: OUTPUT,
    text: "spec, json, junit, tap or github; =FILE writes it to a file; may be given often",
    otherwise: "spec",
  },
  {
    name: "report",
    group: OUTPUT,
    text: "Directory for a report of each failed scenario, for clobsim replay",
  },
  {
    name: "verbose",
    group: OUTPUT,
    text: "A line for each scenario however many there are; transcripts in json",
    toggle: "on",
  },
];

const text = (expected: string): Setting<string> => ({ expected, read: (given) => given || null });

/** What each flag's text means. */
export const RUN_SETTINGS = {
  via: {
    expected: "process or http",
    read: (given: string) => (given === "process" || given === "http" ? given : null),
  },
  target: ORIGIN,
  wallets: text("the path of a wallets file"),
  seed: SETTINGS.seed,
  repeat: wholeNumber(1, 1_000_000),
  step: wholeNumber(1, 1_000_000),
  update: truth,
  watch: truth,
  grep: { expected: "a regular expression", read: readPattern },
  shard: SHARD,
  bail: truth,
  reporter: text("a reporter such as spec or junit=out.xml"),
  report: text("the path of a directory"),
  verbose: truth,
} as const;

function readPattern(given: string): RegExp | null {
  try {
    return given === "" ? null : new RegExp(given, "iu");
  } catch {
    return null;
  }
}
