import { moneyText, sizeText } from "../../core/format.ts";
import { marketOfToken, outcomeOf } from "../../core/market.ts";
import type { ExchangeConfig, State } from "../../core/state.ts";
import type { Millis } from "../../core/units.ts";
import type { Exchange } from "../../engine/exchange.ts";
import { isMarketName } from "../language/fields.ts";
import { marketEntries } from "../record/market-entries.ts";
import { settlementLines } from "../record/scenario-text.ts";
import type { TouchedMarket } from "../record/touched-markets.ts";
import { moment } from "../record/vocabulary.ts";
import { itemLines, map, mapLines, scalar } from "../record/yaml-text.ts";
import { type DeedNames, DeedSteps } from "./deed-steps.ts";
import type { Deed } from "./deeds.ts";
import { Endowments } from "./endowments.ts";
import { accountsIn, type HistoryExpectation, ordersIn } from "./history-expectation.ts";
import { type HistoryNames, orderName } from "./history-names.ts";
import { Retelling } from "./retelling.ts";
import type { Signature } from "./signature.ts";

/** Whether what accounts get before they act stands in the header, or all of it in steps. */
export type FundingStyle = "header" | "steps";

/** Some deeds to be written as a scenario. */
export interface DeedsToTell {
  readonly config: ExchangeConfig;
  readonly start: Millis;
  readonly deeds: readonly Deed[];
  /** An exchange that stands at the start. */
  readonly fresh: () => Exchange;
  readonly signature: Signature;
  /** How many commands the history had. */
  readonly count: number;
  readonly style: FundingStyle;
  /** What must be true at the end, or what must be accepted there, where it is that which fails. */
  readonly expected: HistoryExpectation | RefusedAtEnd | null;
}

/** A deed that is refused where it should be accepted, and the names of the history. */
export interface RefusedAtEnd {
  readonly names: HistoryNames;
  readonly deed: Deed;
}

export interface HistoryScenario {
  /** The file's YAML. */
  readonly text: string;
  /** What was done that no step says, in words. */
  readonly unsaid: readonly string[];
}

/**
 * Some deeds of a history as a scenario of their own: its markets and what its accounts start with are its header. What
 * the exchange's own faucet gave is given there, and grants in every market as shares of both outcomes.
 */
export function historyScenario(told: DeedsToTell): HistoryScenario {
  const { config, start, deeds, signature, count, style, expected } = told;
  const markets = marketsOf(told);
  const names = new Map(markets.map(({ number, name }) => [number, name]));
  const asked = expected !== null && "deed" in expected ? [expected.deed] : [];
  const steps = new DeedSteps(
    [...deeds, ...asked],
    names,
    start,
    expected === null ? undefined : namesIn(expected),
  );
  const endowments = new Endowments(config, [...names.keys()], style === "header");
  for (const deed of deeds) {
    const given = endowments.take(deed);
    for (const each of given) steps.fund(deed.at, each.address, each.token, each.amount);
    steps.add(deed);
  }
  for (const deed of asked) steps.add(deed);
  if (expected !== null && "text" in expected) {
    const { names: given, expectations, text } = expected;
    const addresses = accountsIn(expectations).flatMap((name) => given.accounts.get(name) ?? []);
    for (const address of addresses) steps.account(address);
    steps.steps.push([["expect", text]]);
  }
  const accounts = steps.accounts.map(([address, name]) => {
    const assets = endowments.of(address).map(([token, amount]): readonly [string, string] => {
      if (token === 0) return ["USDC", moneyText(amount)];
      const outcome = outcomeOf(token);
      const market = names.size === 1 ? "" : `${names.get(marketOfToken(token))} `;
      return [`${market}${outcome}`, sizeText(amount)];
    });
    return [name, map(assets)] as const;
  });
  const block = (key: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : [`${key}:`, ...lines];
  const lines = [
    `# Of a history of ${count} commands, these are enough to fail: ${oneLine(signature.sentence)}.`,
    `scenario: ${scalar(oneLine(signature.sentence))}`,
    ...(isSeed(config.seed) ? [`seed: ${scalar(config.seed)}`] : []),
    `clock: ${moment(start)}`,
    ...settlementLines(config),
    ...block("markets", mapLines(marketEntries(markets, []).entries, 2)),
    ...block("accounts", mapLines(accounts, 2)),
    ...block(
      "steps",
      steps.steps.flatMap((step) => itemLines(step, 2)),
    ),
  ];
  return { text: `${lines.join("\n")}\n`, unsaid: [...steps.unsaid] };
}

/** What an expectation calls accounts and orders. */
function namesIn(expected: HistoryExpectation | RefusedAtEnd): DeedNames {
  const { names } = expected;
  const orders = new Set("text" in expected ? ordersIn(expected.expectations) : []);
  return {
    account: (address) => names.accountOf(address),
    order: orderName,
    isNamed: (number) => orders.has(orderName(number)),
  };
}

const LONGEST = 150;

const oneLine = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]+/gu, " ").slice(0, LONGEST);

const isSeed = (seed: string): boolean => /^[^\p{Cc}\p{Cs}]{1,128}$/u.test(seed);

/** The markets of the deeds, by their numbers in the history, with the names that the scenario gives them. */
function marketsOf({ deeds, fresh }: DeedsToTell): TouchedMarket[] {
  const retelling = new Retelling(fresh());
  const markets: TouchedMarket[] = [];
  const names = new Set<string>();
  for (const deed of deeds) {
    const { size: before } = retelling.state.markets;
    try {
      retelling.tell(deed);
    } catch {
      break;
    }
    const after = lastMarket(retelling.state);
    if (after === undefined || retelling.state.markets.size === before) continue;
    const name =
      isMarketName(after.slug) && !names.has(after.slug) ? after.slug : `market-${deed.made.market}`;
    names.add(name);
    markets.push({ number: deed.made.market, name, before: null, after });
  }
  return markets;
}

const lastMarket = ({ markets }: State) => markets.find(markets.size);
