import type { Command, CommandOf } from "../../core/commands.ts";
import { moneyText, priceText, sizeText } from "../../core/format.ts";
import { marketOfToken, outcomeOf, tokenOf } from "../../core/market.ts";
import type { ExchangeConfig, State } from "../../core/state.ts";
import type { Address } from "../../core/terms.ts";
import type { Millis } from "../../core/units.ts";
import type { Exchange } from "../../engine/exchange.ts";
import { isMarketName } from "../../scenario/language/fields.ts";
import { NEXT_ORDER } from "../../scenario/language/scenario.ts";
import { positionText } from "../record/observed-session.ts";
import { marketEntries } from "../record/opening-steps.ts";
import type { TouchedMarket } from "../record/session-names.ts";
import type { Step } from "../record/yaml-text.ts";
import {
  faultStep,
  itemLines,
  map,
  mapLines,
  moment,
  sayableTerms,
  scalar,
  settlementLines,
} from "../record/yaml-text.ts";
import type { FailureFingerprint } from "./fingerprint.ts";
import {
  accountsIn,
  type HistoryExpectation,
  type HistoryNames,
  orderName,
  ordersIn,
} from "./history-expectation.ts";
import { Remapper, type TracedCommand } from "./trace.ts";

const NAMES = ["alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi", "ivan", "judy"];

/** What accounts and orders of a history are called; null leaves it to whoever writes them. */
interface TraceNames {
  account(address: Address): string | null;
  /** The name of an order that is spoken of again, by its number in the history. */
  order(number: number): string | null;
  /** Whether something but a cancel speaks of an order. */
  isNamed(number: number): boolean;
}

const UNNAMED: TraceNames = { account: () => null, order: () => null, isNamed: () => false };

/** Writes commands as steps, in whose order accounts and orders get their names. */
class StepWriter {
  readonly steps: Step[] = [];
  /** What no step can say. */
  readonly unsaid = new Set<string>();
  readonly #markets: ReadonlyMap<number, string>;
  readonly #names = new Map<Address, string>();
  readonly #canceled: ReadonlySet<number>;
  readonly #orders = new Map<number, string>();
  readonly #given: TraceNames;
  #now: Millis;

  /** `markets` are the names of markets by their numbers in the history. */
  constructor(
    trace: readonly TracedCommand[],
    markets: ReadonlyMap<number, string>,
    start: Millis,
    given: TraceNames = UNNAMED,
  ) {
    this.#markets = markets;
    this.#given = given;
    this.#canceled = new Set(trace.map(({ references }) => references.order).filter((order) => order > 0));
    this.#now = start;
  }

  /** The accounts that are spoken of, in the order of their first time. */
  get accounts(): readonly (readonly [Address, string])[] {
    return [...this.#names];
  }

  fund(at: Millis, address: Address, token: number, amount: number): void {
    this.#passTime(at);
    const what =
      token === 0
        ? `${moneyText(amount)} USDC`
        : `${sizeText(amount)} ${outcomeOf(token)}${this.#inMarket(marketOfToken(token))}`;
    this.steps.push([[this.account(address), `fund ${what}`]]);
  }

  add({ at, command, made, references }: TracedCommand): void {
    const steps = command === null ? [] : this.#stepsOf(command, made.order, references);
    if (command === null || steps.length > 0) this.#passTime(at);
    this.steps.push(...steps);
  }

  #passTime(at: Millis): void {
    if (at > this.#now) this.steps.push([["at", moment(at)]]);
    this.#now = at;
  }

  #stepsOf(command: Command, order: number, references: TracedCommand["references"]): readonly Step[] {
    switch (command.kind) {
      case "placeOrder":
        return [
          [[this.account(command.address), this.#orderText(command, order, references.tokens[0] ?? 0)]],
        ];
      case "cancelOrder":
        return [
          [[this.account(command.address), `cancel ${this.#orders.get(references.order) ?? "nothing"}`]],
        ];
      case "cancelAllOrders":
        return [[[this.account(command.address), "cancel all"]]];
      case "deriveCredentials":
      case "fundAccount":
        this.account(command.address);
        return [];
      case "closeMarket":
        return [[["close", this.#markets.get(command.market) ?? ""]]];
      case "resolveMarket":
        return [[["resolve", `${command.winningOutcome}${this.#inMarket(command.market)}`]]];
      case "createEvent":
      case "createMarket":
        return [];
      default:
        return this.#chainSteps(command, references);
    }
  }

  #chainSteps(command: Command, { position, order }: TracedCommand["references"]): readonly Step[] {
    switch (command.kind) {
      case "sendTransaction": {
        if (position === null) return this.#cannotSay(`a wallet's own transaction (${command.call.kind})`);
        const { change, market } = position;
        return [[[this.account(command.from), positionText(change) + this.#inMarket(market)]]];
      }
      case "mineBlocks":
        return [[["mine", String(command.count)]]];
      case "reorganizeChain":
        return [[["reorg", String(command.depth)]]];
      case "setSettlementFault":
        if (command.order === undefined) return [faultStep(sayableTerms(command))];
        return [
          faultStep(sayableTerms(command), order === 0 ? NEXT_ORDER : (this.#orders.get(order) ?? null)),
        ];
      case "endSettlementFault":
        return command.number === null
          ? [[["chain fault", "none"]]]
          : this.#cannotSay("the end of one fault of several");
      case "bumpFees":
        return [[["bump", "fees"]]];
      default:
        return this.#cannotSay(command.kind);
    }
  }

  #orderText(
    { side, size, price, orderType, expiration }: CommandOf<"placeOrder">,
    order: number,
    token: number,
  ): string {
    const type = orderType === "GTC" ? "" : ` ${orderType}`;
    const until = expiration === null ? "" : ` ${moment(expiration)}`;
    const isNamed = this.#canceled.has(order) || this.#given.isNamed(order);
    const name = isNamed ? (this.#given.order(order) ?? `order-${this.#orders.size + 1}`) : null;
    if (name !== null) this.#orders.set(order, name);
    const named = name === null ? "" : ` as ${name}`;
    const where = this.#inMarket(marketOfToken(token));
    return `${side} ${sizeText(size)} ${outcomeOf(token)} @ ${priceText(price)}${type}${until}${where}${named}`;
  }

  #cannotSay(what: string): readonly Step[] {
    this.unsaid.add(what);
    return [];
  }

  #inMarket(market: number): string {
    return this.#markets.size === 1 ? "" : ` in ${this.#markets.get(market)}`;
  }

  /** What an account is called, which is one of the scenario from now on. */
  account(address: Address): string {
    const count = this.#names.size;
    const name =
      this.#names.get(address) ?? this.#given.account(address) ?? NAMES[count] ?? `wallet-${count + 1}`;
    this.#names.set(address, name);
    return name;
  }
}

/** Micro-USDC, where the token is 0, or size units of a token, by its number in the history. */
interface Gift {
  readonly address: Address;
  readonly token: number;
  readonly amount: number;
}

/** What accounts are given: before they do anything else it is what they start with. */
class InitialFunding {
  readonly #config: ExchangeConfig;
  readonly #markets: readonly number[];
  readonly #atFirst: boolean;
  readonly #start = new Map<Address, Map<number, number>>();
  readonly #known = new Set<Address>();
  readonly #acted = new Set<Address>();

  /** `atFirst`: whether accounts start with anything; else all of it is given by steps. */
  constructor(config: ExchangeConfig, markets: readonly number[], atFirst: boolean) {
    this.#config = config;
    this.#markets = markets;
    this.#atFirst = atFirst;
  }

  /** Notes what a command gives, and answers what a step must give. */
  take({ command, references }: TracedCommand): readonly Gift[] {
    if (command === null || !("address" in command)) return [];
    const { address } = command;
    if (command.kind === "deriveCredentials") {
      if (this.#known.has(address)) return [];
      this.#known.add(address);
      const { collateral, everyMarket } = this.#config.faucet;
      return this.#give(address, collateral, this.#everywhere(everyMarket));
    }
    if (command.kind === "fundAccount") {
      const shares = command.tokens.map(({ size }, index) => [references.tokens[index] ?? 0, size] as const);
      const given = shares.filter(([token]) => token > 0);
      return this.#give(address, command.collateral, [...given, ...this.#everywhere(command.everyMarket)]);
    }
    this.#acted.add(address);
    return [];
  }

  /** What an account starts with, by token; USDC under 0. */
  of(address: Address): readonly (readonly [token: number, amount: number])[] {
    return [...(this.#start.get(address) ?? [])].sort(([a], [b]) => a - b);
  }

  #everywhere(size: number): (readonly [token: number, amount: number])[] {
    const outcomes = ["YES", "NO"] as const;
    return this.#markets.flatMap((market) =>
      outcomes.map((outcome) => [tokenOf(market, outcome), size] as const),
    );
  }

  #give(
    address: Address,
    collateral: number,
    shares: readonly (readonly [number, number])[],
  ): readonly Gift[] {
    const gifts = [[0, collateral] as const, ...shares].filter(([, amount]) => amount > 0);
    if (!this.#atFirst || this.#acted.has(address)) {
      return gifts.map(([token, amount]) => ({ address, token, amount }));
    }
    const start = this.#start.get(address) ?? new Map<number, number>();
    for (const [token, amount] of gifts) start.set(token, (start.get(token) ?? 0) + amount);
    this.#start.set(address, start);
    return [];
  }
}

/** Whether what accounts get before they act stands in the header, or all of it in steps. */
export type FundingStyle = "header" | "steps";

/** Some commands to be written as a scenario. */
export interface TraceToWrite {
  readonly config: ExchangeConfig;
  readonly start: Millis;
  readonly trace: readonly TracedCommand[];
  /** An exchange that stands at the start. */
  readonly fresh: () => Exchange;
  readonly fingerprint: FailureFingerprint;
  /** How many commands the history had. */
  readonly count: number;
  readonly style: FundingStyle;
  /** What must be true at the end, or what must be accepted there, where it is that which fails. */
  readonly expected: HistoryExpectation | RefusedAtEnd | null;
}

/** A command that is refused where it should be accepted, and the names of the history. */
interface RefusedAtEnd {
  readonly names: HistoryNames;
  readonly traced: TracedCommand;
}

export interface HistoryScenario {
  /** The file's YAML. */
  readonly text: string;
  /** What was done that no step says, in words. */
  readonly unsaid: readonly string[];
}

/**
 * Some commands of a history as a scenario of their own: its markets and what its accounts start with are its header. What
 * the exchange's own faucet gave is given there, and grants in every market as shares of both outcomes.
 */
export function historyScenario(written: TraceToWrite): HistoryScenario {
  const { config, start, trace, fingerprint, count, style, expected } = written;
  const markets = marketsOf(written);
  const names = new Map(markets.map(({ number, name }) => [number, name]));
  const asked = expected !== null && "traced" in expected ? [expected.traced] : [];
  const steps = new StepWriter(
    [...trace, ...asked],
    names,
    start,
    expected === null ? undefined : namesIn(expected),
  );
  const funding = new InitialFunding(config, [...names.keys()], style === "header");
  for (const traced of trace) {
    const given = funding.take(traced);
    for (const each of given) steps.fund(traced.at, each.address, each.token, each.amount);
    steps.add(traced);
  }
  for (const traced of asked) steps.add(traced);
  if (expected !== null && "text" in expected) {
    const { names: given, expectations, text } = expected;
    const addresses = accountsIn(expectations).flatMap((name) => given.accounts.get(name) ?? []);
    for (const address of addresses) steps.account(address);
    steps.steps.push([["expect", text]]);
  }
  const accounts = steps.accounts.map(([address, name]) => {
    const assets = funding.of(address).map(([token, amount]): readonly [string, string] => {
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
    `# Of a history of ${count} commands, these are enough to fail: ${oneLine(fingerprint.sentence)}.`,
    `scenario: ${scalar(oneLine(fingerprint.sentence))}`,
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
function namesIn(expected: HistoryExpectation | RefusedAtEnd): TraceNames {
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

/** The markets of the commands, by their numbers in the history, with the names that the scenario gives them. */
function marketsOf({ trace, fresh }: TraceToWrite): TouchedMarket[] {
  const remapper = new Remapper(fresh());
  const markets: TouchedMarket[] = [];
  const names = new Set<string>();
  for (const traced of trace) {
    const { size: before } = remapper.state.markets;
    try {
      remapper.apply(traced);
    } catch {
      break;
    }
    const after = lastMarket(remapper.state);
    if (after === undefined || remapper.state.markets.size === before) continue;
    const name =
      isMarketName(after.slug) && !names.has(after.slug) ? after.slug : `market-${traced.made.market}`;
    names.add(name);
    markets.push({ number: traced.made.market, name, before: null, after });
  }
  return markets;
}

const lastMarket = ({ markets }: State) => markets.find(markets.size);
