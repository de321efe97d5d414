import { DEFAULT_DATA, SETTINGS } from "../config.ts";
import { UUID } from "../core/format.ts";
import { anyOf, TICK_SIZES } from "../core/terms.ts";
import { FULL_PRICE, price } from "../core/units.ts";
import { readRange } from "../fuzz/seeds.ts";
import { REPORTER } from "../scenario/report/text.ts";
import {
  BUDGET,
  choice,
  entryOf,
  flagOf,
  type Given,
  inGroup,
  LINE,
  LINE_OR_MOMENT,
  MOMENT,
  matching,
  oneLine,
  parser,
  pattern,
  SEED,
  SERVER_URL,
  type Setting,
  type Settings,
  SHARD,
  TIMEOUT,
  text,
  toggle,
  type ValuesOf,
  variableOf,
  wholeNumber,
  wordOf,
} from "../setting.ts";
import {
  FLOW_PROFILES,
  type FlowProfile,
  MAX_ACCOUNTS,
  MAX_FLOW_ORDERS,
  PROFILES,
} from "../simulation/flow.ts";
import { MAX_MARKETS } from "../simulation/world-orders.ts";
import type { ExitCode } from "./process.ts";
import type { Busy, Progress } from "./progress.ts";

/** Shells for which there is a completion script. */
export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

/** Test runners for which `clobsim init` writes a first test. */
export const RUNNERS = ["vitest", "jest", "node"] as const;

/** Help and settings of a command. */
export interface Subcommand {
  readonly summary: string;
  /** Positional arguments; absent for none. */
  readonly args?: ReturnType<typeof args>;
  readonly settings: Settings;
  /** Text of its progress line; absent if the command shows no progress or its own. */
  readonly busy?: Busy;
  /** Command lines without the program's name, each with its purpose. */
  readonly examples: readonly (readonly [line: string, purpose: string])[];
}

const selection = inGroup("Selection:");
const execution = inGroup("Execution:");
const output = inGroup("Output:");
const journal = inGroup("Journal:");
const coverage = inGroup("Coverage:");
const exchange = inGroup("Exchange:");
const flow = inGroup("Flow:");
const limits = inGroup("Limits:");
const project = inGroup("Project:");
const repair = inGroup("Repair:");
const world = inGroup("World:");
/**
 * Positional arguments: as the help shows them, such as `PATHS`; what is expected, in messages; their number. A shell
 * completes `completed`, or file names if absent.
 */
const args = (usage: string, expected: string, min: number, max: number, completed?: readonly string[]) => ({
  ...{ usage, expected, min, max, completed },
});
const PATHS = args("PATHS..", "files, folders or globs", 1, Number.POSITIVE_INFINITY);
const JOURNAL_WORD = args("[DIR|REPORT]", "one data directory or report", 0, 1);

const FILE = text("the path of a file to write");
const OUT_OR_STDOUT = output(FILE, "File to write", { defaultHelp: "stdout" });
const COUNT = wholeNumber(1, 1_000_000);
const VIA = choice("process", "http");
const BY_NEED = { defaultHelp: "process; http where a step needs it" };
const THE_END = { defaultHelp: "the end" };

/** Settings of a running server besides `url`. */
const SERVER = {
  from: exchange(SERVER_URL, "Another name of --url"),
  simToken: exchange(SETTINGS.simToken, "Secret for its /sim; better set as CLOBSIM_SIM_TOKEN"),
};

/** Tick sizes as typed, and in 0.0001 USDC. */
const TICKS = Object.fromEntries(TICK_SIZES.map((size) => [size, price(size * FULL_PRICE)]));

const ORDER = new RegExp(`^(?:[1-9]\\d{0,14}|${UUID})$`, "i");

/** All commands, in the order of the help. Flags, help, completion and the CLI reference are derived from this table. */
export const SUBCOMMANDS = {
  serve: {
    summary: "Open an exchange and answer over HTTP until stopped.",
    busy: { what: "opening the exchange" },
    settings: SETTINGS,
    examples: [
      ["serve", "the world of seed 1 on port 7070"],
      ["serve --port 0 --ephemeral --seed 7 --clock frozen", "for a test: a free port and a frozen clock"],
      ["serve --pool 8 --clock frozen", "an exchange for each of eight workers, at /1 to /8"],
      ["serve --clock 60x", "an hour of virtual time each minute"],
      ["serve --world world.json --data edited", "a world made by clobsim world, or by hand"],
      ["serve --from bug.ndjson --at 17", "continues a report after its 17th line"],
      ["serve --data run-7 --durability power", "persisted in run-7, safe from a power failure"],
    ],
  },
  init: {
    summary: "Write a first scenario, a test and a CI workflow into a project, without overwriting files.",
    args: args("[DIR]", "one folder", 0, 1),
    settings: {
      runner: project(choice(...RUNNERS), "vitest, jest or node, which is node:test", {
        defaultHelp: "what package.json names, else vitest",
      }),
      dryRun: project(toggle, "Print what would be written, and write nothing"),
    },
    examples: [
      ["init", "into the current folder"],
      ["init my-bot --runner node", "into another folder, for node:test"],
      ["init --dry-run", "what it would write"],
    ],
  },
  run: {
    summary: "Run scenario files: replay their steps and check what must be true.",
    busy: { what: "running", unit: "scenarios" },
    args: PATHS,
    settings: {
      via: execution(VIA, "process, or http: a real server and real signatures", BY_NEED),
      target: execution(SERVER_URL, "URL of a deployment to run on instead; needs --wallets"),
      wallets: execution(
        text("the path of a wallets file"),
        "File with the wallets, markets and funds there",
      ),
      seed: execution(SEED, "Seed for every scenario, instead of its own"),
      repeat: execution(COUNT, "How often to run each; every run must end in the same state", {
        default: "1",
      }),
      step: execution(COUNT, "Stop after this step and print everything that happened"),
      update: execution(toggle, "Write golden files and state hashes instead of comparing them"),
      watch: execution(toggle, "Run again when a file changes"),
      grep: selection(
        pattern("a regular expression"),
        "Only scenarios whose name or file matches this regular expression",
      ),
      shard: selection(SHARD, "Only the i-th of n equal parts of the suite, as i/n"),
      bail: selection(toggle, "Stop after the first failure"),
      reporter: output(
        REPORTER,
        "spec, json, junit, tap or github; =FILE writes it to a file; may be given often",
        { defaultHelp: "spec", isRepeatable: true },
      ),
      report: output(SETTINGS.report, "Directory for a report of each failed scenario, for clobsim replay"),
      verbose: output(toggle, "Print a line for each scenario, also in large suites; transcripts in json"),
    },
    examples: [
      ["run scenarios", "every scenario in a folder"],
      ["run 'scenarios/**/fok*.yaml' --via http", "some of them, over HTTP with real signatures"],
      ["run scenarios --reporter spec --reporter junit=out.xml", "for a person and for CI"],
      ["run failing.yaml --seed 7 --step 12", "up to a step, with everything that happened"],
    ],
  },
  coverage: {
    summary: "Run scenario files and show what they exercise: order states, error codes, endpoints and more.",
    busy: { what: "running scenarios" },
    args: PATHS,
    settings: {
      via: coverage(VIA, "process, or http, which counts endpoints and their errors too", BY_NEED),
      min: coverage(wholeNumber(0, 100), "Fail if a smaller percentage of the items is exercised", {
        default: "0",
      }),
      json: output(toggle, "The same figures as JSON"),
    },
    examples: [
      ["coverage scenarios", "the items that a suite exercises, and those that it does not"],
      ["coverage scenarios --via http --min 95", "endpoints too, as a gate for CI"],
    ],
  },
  record: {
    summary: "Write the session of an exchange, running or on disk, as a scenario file that passes.",
    busy: { what: "recording" },
    args: args("[DIR|REPORT|URL]", "one data directory, one report or the URL of a server", 0, 1),
    settings: {
      at: journal(LINE_OR_MOMENT, "Of a directory or a report: up to this line, or this time", THE_END),
      url: exchange(SERVER_URL, "URL of the running server", { defaultHelp: "http://127.0.0.1:7070" }),
      ...SERVER,
      name: output(oneLine(200), "Name of the scenario", { defaultHelp: "the number of its orders" }),
      out: OUT_OR_STDOUT,
    },
    examples: [
      ["record --out bug.yaml", "the session so far; clobsim run bug.yaml repeats it"],
      [
        "record --url http://127.0.0.1:8080 --name 'two wallets race'",
        "the session of another server, with a name",
      ],
      ["record report.ndjson --at 17 --out bug.yaml", "a bug report, up to its 17th line"],
    ],
  },
  shrink: {
    summary: "Reduce a failing scenario to the few steps that still make it fail in the same way.",
    args: args("FILE|REPORT|DIR", "one file", 1, 1),
    busy: { what: "shrinking", unit: "steps" },
    settings: {
      expect: journal(
        text("what must be true, such as orders: { o8194: LIVE 5/10 }"),
        "What should be true at the end of a report or a directory, as in expect: of a scenario",
        { defaultHelp: "what fails by itself" },
      ),
      refused: journal(LINE, "The line of a refused order or cancel that should have been accepted", {
        defaultHelp: "the only such line, if nothing else fails",
      }),
      at: journal(LINE_OR_MOMENT, "Where the history ends: after this line, or at this time", THE_END),
      out: OUT_OR_STDOUT,
      budget: limits(BUDGET, "Time limit, such as 60s; then the smallest result so far is written", {
        defaultHelp: "none",
      }),
    },
    examples: [
      ["shrink failing.yaml", "prints the smallest scenario that fails in the same way"],
      ["shrink failing.yaml --out small.yaml", "writes it to a file in the same folder"],
      ["shrink report.ndjson --out small.yaml", "a bug report, as a scenario of a few steps"],
      [
        "shrink report.ndjson --expect 'orders: { o8194: LIVE 5/10 }'",
        "the steps after which order 8194 of the journal is not as expected",
      ],
      ["shrink report.ndjson --refused 12", "the steps after which the order of the 12th line is refused"],
      ["shrink long.yaml --budget 60s --out small.yaml", "the smallest result within a minute"],
    ],
  },
  flow: {
    summary: "Generate an order flow for scenarios to replay: the same options, the same bytes.",
    busy: { what: "generating a flow" },
    settings: {
      profile: flow(entryOf<FlowProfile>(PROFILES), anyOf(FLOW_PROFILES), { default: "balanced" }),
      seed: flow(SEED, "Seed of every row", { default: "1" }),
      orders: flow(wholeNumber(1, MAX_FLOW_ORDERS), "Number of orders", { default: "1000" }),
      accounts: flow(wholeNumber(1, MAX_ACCOUNTS), "Number of accounts", { default: "20" }),
      tickSize: flow(entryOf(TICKS), "Price step of its market", { default: "0.01" }),
      out: OUT_OR_STDOUT,
      format: output(choice("csv", "ndjson"), "csv or ndjson", {
        defaultHelp: "what --out ends in, else csv",
      }),
    },
    examples: [
      ["flow --profile bursts --seed 7 --out flow.csv", "a scenario plays it with replay: flow.csv"],
      ["flow --orders 100000 --format ndjson", "a long flow, with one object a line"],
    ],
  },
  fuzz: {
    summary: "Run generated histories, one for each seed, and write each failure as a scenario.",
    args: args("[merge PATHS.. | show FILE]", "merge, show or options", 0, Number.POSITIVE_INFINITY, [
      "merge",
      "show",
    ]),
    settings: {
      seeds: selection(
        parser("FROM..TO with FROM below TO, such as 0..10000, 0..10_000 or 0..1e6", readRange),
        "FROM..TO, excluding TO; a million is 1000000, 1_000_000 or 1e6",
        { default: "0..10000" },
      ),
      shard: selection(SHARD, "Only the i-th of n parts, as i/n: every n-th seed, beginning with the i-th"),
      budget: selection(BUDGET, "Start no more seeds after this time, such as 10m", {
        defaultHelp: "until every seed is done",
      }),
      commands: execution(COUNT, "Commands of each seed", { default: "300" }),
      via: execution(VIA, "process, or http: a real server and real signatures", { default: "process" }),
      workers: execution(
        wholeNumber(1, 1024),
        "Threads that run seeds; the results are the same for any number",
        { defaultHelp: "one for each processor" },
      ),
      seedTimeout: execution(TIMEOUT, "A seed that takes longer hangs, which is a failure", {
        default: "60s",
      }),
      out: output(FILE, "Directory for results, scenarios and reports; of merge, the file to write", {
        defaultHelp: "failures, if there are any; of merge, stdout",
      }),
    },
    examples: [
      ["fuzz", "10,000 seeds, on all processors"],
      ["fuzz --seeds 4711..4712", "one seed again"],
      ["fuzz --seeds 0..1e6 --shard 3/40 --budget 10m --out failures/3", "the third of 40 machines"],
      ["fuzz merge failures/*/ --out fuzz.json", "one entry for each failure, with its smallest seed"],
      ["fuzz show fuzz.json", "a table; each row ends with the command that repeats it"],
    ],
  },
  world: {
    summary: "Generate the world of a seed as JSON: the same seed, the same bytes.",
    busy: { what: "generating a world" },
    settings: {
      seed: world(SEED, "Seed of everything in the world", { default: "1" }),
      markets: world(SETTINGS.markets, "Number of markets", { defaultHelp: "as many as the events hold" }),
      events: world(wholeNumber(1, MAX_MARKETS), "Number of events, of 1 to 8 markets each", {
        defaultHelp: "12",
      }),
      out: OUT_OR_STDOUT,
    },
    examples: [
      ["world --seed 7 --out world.json", "a world to edit and keep; serve --world opens it"],
      ["world --markets 5000 --out large.json", "a large one"],
    ],
  },
  journal: {
    summary: "Print a journal or a report line by line: time, account, command and result.",
    busy: { what: "replaying" },
    args: JOURNAL_WORD,
    settings: {
      from: selection(LINE, "The first line to print", { default: "1" }),
      to: selection(LINE, "The last line to print", THE_END),
      grep: selection(
        pattern("a regular expression, or an id"),
        "Only lines that match this regular expression, or that mention the order, trade, market, event, token or account with this id, slug or address",
      ),
      json: output(toggle, "A JSON object a line, with the events of each"),
    },
    examples: [
      ["journal", `all lines of ${DEFAULT_DATA}`],
      ["journal --from 100 --to 120", "some of them"],
      ["journal report.ndjson --grep fills", "orders that traded"],
      ["journal --grep 4acfce73-8b67-80ed-9cc2-000000000001", "lines about an id of the API"],
    ],
  },
  replay: {
    summary:
      "Replay every command of a journal or a report, retry each refused request, and report what differs.",
    busy: { what: "replaying", unit: "lines" },
    args: JOURNAL_WORD,
    settings: {
      to: selection(LINE, "The last line to replay", THE_END),
      until: selection(MOMENT, "Only commands up to this time"),
    },
    examples: [
      ["replay", `the history of ${DEFAULT_DATA}`],
      ["replay report.ndjson", "a bug report: it ends in the same state as the original"],
    ],
  },
  inspect: {
    summary: "Print books, open orders and balances as they stood after a line of a journal or a report.",
    busy: { what: "replaying" },
    args: JOURNAL_WORD,
    settings: {
      at: selection(LINE_OR_MOMENT, "After this line, or at this time", THE_END),
      market: selection(
        text("the slug of a market, its beginning, or its id"),
        "Only this market: its slug, the beginning of its slug, or its id",
      ),
      account: selection(
        matching(
          "an address, its beginning from 0x and 4 digits on, or dev-0",
          /^(?:0x[0-9a-f]{4,40}|dev-\d{1,9})$/i,
        ),
        "Only this account: its address, the beginning of it, or dev-0 and so on",
      ),
      order: selection(
        matching("the id of an order, or its number", ORDER),
        "Only the history of one order: its id or its number",
      ),
      all: selection(toggle, "Also markets and accounts without activity since the opening"),
      json: output(toggle, "A JSON document"),
      html: output(
        matching("the path of a file that ends in .html", /\.html?$/i),
        "File to write instead: a web page with the whole history",
      ),
    },
    examples: [
      ["inspect report.ndjson --html bug.html", "writes a web page with the whole history, in one file"],
      ["inspect --at 17", `the state of ${DEFAULT_DATA} after its 17th line`],
      ["inspect report.ndjson --at 2026-01-01T00:00:10Z --account 0x19e7", "one account at a moment"],
      ["inspect --order 8194", "the history of an order, line by line"],
    ],
  },
  report: {
    summary: "Write the whole history of an exchange to one file that another machine can replay.",
    busy: { what: "reporting" },
    args: args("[DIR|URL]", "one data directory or the URL of a server", 0, 1),
    settings: {
      url: exchange(SERVER_URL, "URL of a running server, instead of a directory"),
      ...SERVER,
      reason: output(oneLine(200), "What went wrong, in one line", { defaultHelp: "none" }),
      out: output(FILE, "File to write", { defaultHelp: "report-STATE.ndjson" }),
    },
    examples: [
      ["report", `of the exchange in ${DEFAULT_DATA}, running or not`],
      ["report --url http://127.0.0.1:7070 --out bug.ndjson", "of a running server, also of one in memory"],
      ["replay bug.ndjson", "replays the report, on any machine"],
    ],
  },
  repair: {
    summary:
      "Copy the undamaged part of a data directory or report into a new directory, and say what is lost.",
    busy: { what: "looking for damage" },
    args: JOURNAL_WORD,
    settings: {
      acceptLoss: repair(toggle, "Required: everything after the damage is left out"),
      out: repair(FILE, "Data directory to create; the damaged one is not changed"),
    },
    examples: [
      ["repair", `prints what would be lost of ${DEFAULT_DATA}, and does nothing`],
      ["repair --accept-loss --out .clobsim-repaired", "writes the undamaged part"],
    ],
  },
  doctor: {
    summary: "Measure a disk sync, and check whether clobsim serve can open a data directory.",
    busy: { what: "looking for damage" },
    args: args("[DIR]", "one data directory", 0, 1),
    settings: {},
    examples: [
      ["doctor", `of ${DEFAULT_DATA}`],
      ["doctor run-7", "of another directory; exits with the code of serve"],
    ],
  },
  completion: {
    summary: "Print a script that completes commands, options and their values in bash, zsh or fish.",
    args: args("[SHELL]", "bash, zsh or fish", 0, 1, SHELLS),
    settings: {},
    examples: [
      ["completion bash >> ~/.bashrc", "for the next bash, if clobsim is on its PATH; zsh likewise"],
      ["completion fish > ~/.config/fish/completions/clobsim.fish", "for fish"],
      ["completion", "the script for $SHELL"],
    ],
  },
} as const satisfies Record<string, Subcommand>;

export type CommandName = keyof typeof SUBCOMMANDS;

/** Returns the settings of a command, each with its flag without dashes, its word after `--`, and its variable. */
export const optionsOf = (name: CommandName) =>
  Object.entries<Setting<unknown>>(SUBCOMMANDS[name].settings).map(([key, setting]) => {
    const flag = flagOf(key);
    return { ...setting, flag, word: wordOf(key, setting), variable: variableOf(flag) };
  });

/** Values of a command's settings. Each is validated when it is accessed. */
export type Values<Name extends CommandName> = ValuesOf<(typeof SUBCOMMANDS)[Name]["settings"]>;

/** Runs a command. @throws UsageError or ConfigError if the command line or a file that it names is invalid. */
export type Run<Name extends CommandName> = (
  values: Values<Name>,
  /** Positional arguments. */
  words: readonly string[],
  given: Given,
  progress: Progress,
) => Promise<ExitCode>;
