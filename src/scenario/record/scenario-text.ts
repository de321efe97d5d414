import type { ExchangeConfig } from "../../core/state.ts";
import type { Millis } from "../../core/units.ts";
import type { Remark, Step } from "./script.ts";
import { moment } from "./vocabulary.ts";
import { type Entry, itemLines, mapLines, scalar } from "./yaml-text.ts";

/** What a recorded scenario consists of. */
export interface ScenarioParts {
  /** What the file says of itself at its top, a sentence each. */
  readonly remarks: readonly string[];
  readonly name: string;
  /** Null leaves it out. */
  readonly seed: string | null;
  readonly clock: Millis;
  /** Left out where they are what a scenario has anyway. */
  readonly settlement: ExchangeConfig["settlement"];
  readonly balances: ExchangeConfig["balances"];
  readonly markets: readonly Entry[];
  readonly accounts: readonly Entry[];
  /** What brings the markets to where the session found them. */
  readonly opening: readonly (Step | Remark)[];
  readonly session: readonly (Step | Remark)[];
}

const TITLE = "A session that clobsim recorded: what it did, and what came of it.";

/** The file of a scenario. */
export function scenarioText(parts: ScenarioParts): string {
  const { remarks, name, seed, clock, settlement, balances, markets, accounts, opening, session } = parts;
  const lines = [
    ...[TITLE, ...remarks].map((remark) => `# ${remark}`),
    `scenario: ${scalar(name)}`,
    ...(seed === null ? [] : [`seed: ${seedText(seed)}`]),
    `clock: ${moment(clock)}`,
    ...settlementLines({ settlement, balances }),
    ...block("markets", markets),
    ...block("accounts", accounts),
    "steps:",
    ...stepLines("What rests from the start, oldest first.", opening),
    ...stepLines("The session.", session),
  ];
  return `${lines.join("\n")}\n`;
}

/** How a scenario is settled, as its header says it: nothing of what it has anyway. */
export const settlementLines = ({
  settlement,
  balances,
}: Pick<ExchangeConfig, "settlement" | "balances">): string[] => [
  ...(settlement === "instant" ? [] : [`settlement: ${settlement}`]),
  ...(balances === "optimistic" ? [] : [`balances: ${balances}`]),
];

/** A whole number needs no quotes: the language takes it for the text that it is. */
const seedText = (seed: string): string => (/^(?:0|[1-9]\d{0,14})$/.test(seed) ? seed : scalar(seed));

const block = (key: string, entries: readonly Entry[]): string[] =>
  entries.length === 0 ? [] : [`${key}:`, ...mapLines(entries, 2)];

const stepLines = (title: string, steps: readonly (Step | Remark)[]): string[] =>
  steps.length === 0
    ? []
    : [
        `  # ${title}`,
        ...steps.flatMap((step) => ("remark" in step ? [`  # ${step.remark}`] : itemLines(step, 2))),
      ];
