import { minedAt } from "../core/chain/chain.ts";
import { actorOf, commandText, orderWords } from "../core/commands.ts";
import { eventsText } from "../core/events.ts";
import { addressText } from "../core/format.ts";
import { hex8 } from "../core/hash.ts";
import { idOf, numberOf } from "../core/ids.ts";
import { marketOfToken, outcomeOf, tokenIdIn } from "../core/market.ts";
import type { Decision, RefusedRequest, Scalar } from "../core/refusals.ts";
import type { State } from "../core/state.ts";
import { orderIdText, tokenIdText } from "../core/state.ts";
import type { Address } from "../core/terms.ts";
import { toIso } from "../core/time.ts";
import type { Millis } from "../core/units.ts";
import { eventHash } from "../engine/hashes.ts";
import { type ControlKind, type ControlRecords, isControl } from "../engine/journal-line.ts";
import type { ReplayResult } from "../engine/replayer.ts";
import { visible } from "../scenario/report/text.ts";
import type { LineResult, ReplayedLine } from "./journal-replay.ts";
import { hashDigits } from "./report.ts";
import { marketOfEvent } from "./trace.ts";

const SHOWN_DIGITS = 12;

/** Texts of control records, except refused requests. */
const CONTROL_TEXTS: {
  readonly [Kind in Exclude<ControlKind, "refused">]: (data: ControlRecords[Kind], at: Millis) => string;
} = {
  opening: ({ config, base, engine }) => `opens from a ${base.kind}, seed ${config.seed}, clobsim ${engine}`,
  start: ({ engine, durability, mode, rate }) =>
    `clobsim ${engine} starts, clock ${clockText(mode, rate)}, durability ${durability}`,
  // With the time, because an advance is a record of the clock, too.
  clock: ({ mode, rate }, at) => `clock set to ${clockText(mode, rate)}, ${toIso(at)}`,
  restore: ({ line }) => `restored to the state after line ${line}`,
  reset: () => "reset to the opening",
  close: ({ hash }) => `stopped cleanly, state ${hashDigits(hash).slice(0, SHOWN_DIGITS)}`,
  defect: ({ message }) => `a defect: ${message}`,
  report: ({ reason }) => `end of the report: ${reason}`,
  scenario: ({ file }) => `the scenario that failed: ${file}`,
  refusedFull: ({ noted }) => `further refused requests are not recorded, ${noted} are`,
};

const clockText = (mode: string, rate: number): string => (mode === "scaled" ? `${rate}x` : mode);

/** Returns the address that signed a refused request, or that it claims as sender; null if unknown. */
export const senderOf = ({ address, asked }: RefusedRequest): string | null =>
  address ?? (asked?.kind === "command" ? actorOf(asked.command) : null);

/** Returns the number of the market of a refused order; null if its token is unknown. */
export function marketOfRefused({ asked }: RefusedRequest, state: State): number | null {
  if (asked === null) return null;
  const id =
    asked.kind === "request" ? asked.body.tokenId : "tokenId" in asked.command ? asked.command.tokenId : null;
  const token = typeof id === "string" ? state.tokenById.get(id) : undefined;
  return token === undefined ? null : marketOfToken(token);
}

/** Describes a refused request like a command, as far as its fields are known. */
export function refusedText(request: RefusedRequest, state: State): string {
  const { method, path, isProven, address, asked } = request;
  if (asked?.kind === "command") return commandText(asked.command, state);
  if (asked?.kind === "request" && path === "/clob/order") {
    const { body, query } = asked;
    return method === "POST" ? newOrderText(body, state) : cancelText({ ...query, ...body }, state);
  }
  return `${method} ${path}${address !== null && !isProven ? ", sender not proven" : ""}`;
}

type Values = Readonly<Record<string, Scalar>>;

function newOrderText({ tokenId, side, size, price, ...rest }: Values, state: State): string {
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(rest)) texts[name] = word(value);
  if (texts.expiration !== undefined) texts.expiration = `until ${texts.expiration}`;
  const token = typeof tokenId === "string" ? tokenIdText(state, tokenId) : "?";
  return orderWords({ ...texts, side: word(side), size: amount(size), price: amount(price) }, token);
}

function cancelText({ orderId, id, orderID }: Values, state: State): string {
  const ids = [orderId, id, orderID].filter((given) => given !== undefined);
  const named = ids.map((given) => (typeof given === "string" ? orderIdText(state, given) : word(given)));
  return ["cancel", ...named].join(" ");
}

/** A value as JSON; a string of one word without its quotes. */
function word(value: Scalar | undefined): string {
  if (value === undefined) return "?";
  return typeof value === "string" && /^[\w.:+-]+$/.test(value) ? value : JSON.stringify(value);
}

/** A number as JSON, with its quotes if it was sent as a string, because they may be why it was refused. */
const amount = (value: Scalar | undefined): string => (value === undefined ? "?" : JSON.stringify(value));

/** `refused: INVALID_TICK_SIZE (price)`. */
export const refusalCodeText = ({ code, field }: RefusedRequest): string =>
  `refused: ${code}${field === null ? "" : ` (${field})`}`;

export type LineDescription = ReturnType<typeof describeLine>;

/**
 * Describes a line: its sender (null if unknown), the command, request or control record, and its result, which is empty
 * for a control record. Names and messages in it are untrusted input. The state is the one after the line.
 */
export function describeLine({ line, command, result }: ReplayedLine, state: State) {
  if (isControl(line, "refused")) {
    const { d: request } = line;
    const [text, code] = [refusedText(request, state), refusalCodeText(request)];
    return { actor: senderOf(request), text, result: code, isControlRecord: false, isProblem: true };
  }
  const controlText = (CONTROL_TEXTS as Record<string, (data: unknown, at: Millis) => string>)[line.k];
  const control = controlText?.(line.d, line.t) ?? null;
  return {
    actor: command === null ? null : actorOf(command),
    text: control ?? (command === null ? line.k : commandText(command, state)),
    result: resultText(result, state),
    isControlRecord: control !== null,
    /** Whether it was refused, differs or fails. */
    isProblem: result.kind !== "accepted" && result.kind !== "control",
  };
}

/** What a line recorded, and what a replay finds instead. */
export type ComparedResult = readonly [what: string, recorded: string, now: string];

/** Describes the line at which a replay stops, in the report `name`. The state is the one after the line. */
export function describeProblem({ line, command, result }: ReplayedLine, name: string, state: State) {
  const what = `line ${line.n} of ${name}`;
  if (result.kind === "other state") {
    const heading = `every command has the recorded result, but at ${what} the state differs`;
    return { heading, asked: [], rows: [["state", result.recorded, result.found] as const] };
  }
  if (result.kind !== "differs" && result.kind !== "fails") throw new Error(`${what} has no problem`);
  const asked = command === null ? [] : [`${toIso(line.t)}  ${visible(commandText(command, state))}`];
  if (result.kind === "fails" && result.isRecorded) {
    const heading = `${what}, ${command?.kind ?? line.k}, fails in the same way`;
    return { heading, asked: [...asked, visible(result.error.message)], rows: [] };
  }
  const recorded = isControl(line, "defect")
    ? ([visible(`fails: ${line.d.message}`), "none"] as const)
    : (["accepted", hex8(line.r)] as const);
  const now = result.kind === "fails" ? result.error : result.decision;
  const rows = comparedResults(recorded, now, (decision) =>
    decision.ok
      ? visible(`accepted: ${eventsText(decision.events, state)}`)
      : `refused, ${decision.refusal.code}: ${JSON.stringify(decision.refusal)}`,
  );
  return { heading: `${what}, ${line.k}, has another result than recorded`, asked, rows };
}

/** Compares the recorded result of a command, and the hash of its events, with those of a replay. */
export function comparedResults(
  [result, events]: readonly [result: string, events: string],
  now: ReplayResult,
  words: (decision: Decision) => string,
): ComparedResult[] {
  const [newResult, newEvents] =
    now instanceof Error
      ? [visible(`fails: ${now.message}`), "none"]
      : [words(now), now.ok ? hex8(eventHash(now.events)) : "none"];
  return [
    ["result", result, newResult],
    ["events", events, newEvents],
  ];
}

function resultText(result: LineResult, state: State): string {
  switch (result.kind) {
    case "control":
      return "";
    case "accepted":
      return eventsText(result.events, state);
    case "differs":
      return result.decision.ok
        ? `differs: ${eventsText(result.decision.events, state)}`
        : `differs: refused, ${result.decision.refusal.code}`;
    case "other state":
      return "the state differs";
    case "fails":
      return `fails: ${result.error.message}`;
    case "unknown":
      return "unknown";
  }
}

/** Returns what a line of a journal mentions, in itself or in its events. The state is the one after the line. */
export function mentionsIn({ line, command, result }: ReplayedLine, state: State) {
  /** Identifiers of the API: ids, slugs, token and condition ids, addresses. */
  const ids = new Set<string>();
  /** Numbers of orders. */
  const orders = new Set<number>();
  const byField = mentionedBy(state, ids, orders);
  const addFields = (mentioning: object): void => {
    const adders: Readonly<Record<string, (value: never) => void>> = byField;
    for (const [field, value] of Object.entries(mentioning)) adders[field]?.(value as never);
  };
  if (command !== null) addFields(command);
  if (isControl(line, "refused")) {
    const { address, asked } = line.d;
    if (address !== null) ids.add(address);
    if (asked?.kind === "command") addFields(asked.command);
    const given =
      asked?.kind === "request" ? [...Object.values(asked.body), ...Object.values(asked.query)] : [];
    for (const value of given) {
      if (typeof value !== "string") continue;
      byField.orderId(value);
      byField.tokenId(value);
    }
  }
  for (const event of result.kind === "accepted" ? result.events : []) {
    addFields(event);
    if (event.kind !== "blocksMined") continue;
    for (const { number } of minedAt(state.chain, event.height)) byField.transaction(number);
  }
  return {
    orders,
    /** Whether a pattern matches a whole id of something mentioned. */
    matches: (pattern: RegExp): boolean => [...ids].some((id) => id !== "" && pattern.exec(id)?.[0] === id),
  };
}

/** Returns the functions that add what a command or an event mentions, by the names of its fields. */
function mentionedBy(state: State, ids: Set<string>, orders: Set<number>) {
  const { idPrefixes } = state;
  const addMarket = (number: number): void => {
    const { slug = "", conditionId = "" } = state.markets.find(number) ?? {};
    for (const id of [idOf(idPrefixes.market, number), slug, conditionId]) ids.add(id);
  };
  const byField = {
    account: (number: number) => byField.address(state.accounts.find(number)?.address ?? ""),
    /** Adds an address, also in its short form, which is what a journal shows. */
    address: (address: Address) => ids.add(address).add(addressText(address)),
    from: (address: Address) => byField.address(address),
    to: (address: Address) => byField.address(address),
    event: (number: number) =>
      ids.add(idOf(idPrefixes.event, number)).add(state.events.find(number)?.slug ?? ""),
    /** Adds a market with both of its tokens. */
    market: (number: number) => {
      addMarket(number);
      for (const id of state.markets.find(number)?.tokenIds ?? []) ids.add(id);
    },
    order: (number: number) => {
      const order = state.orders.find(number);
      if (order === undefined) return;
      orders.add(number);
      ids.add(idOf(idPrefixes.order, number));
      byField.account(order.account);
      byField.tokenId(tokenIdIn(state.markets.get(marketOfToken(order.token)), outcomeOf(order.token)));
    },
    orderId: (id: string) => byField.order(numberOf(idPrefixes.order, id)),
    tokenId: (id: string) => {
      ids.add(id);
      const token = state.tokenById.get(id);
      if (token !== undefined) addMarket(marketOfToken(token));
    },
    tokens: (tokens: readonly { readonly tokenId: string }[]) => {
      for (const { tokenId } of tokens) byField.tokenId(tokenId);
    },
    trade: (number: number) => {
      const trade = state.trades.find(number);
      if (trade === undefined) return;
      ids.add(idOf(idPrefixes.trade, number));
      byField.order(trade.taker);
      byField.order(trade.maker);
    },
    /** Adds the trades that a transaction settles. */
    transaction: (number: number) => {
      const { firstTrade = 0, trades = 0 } = state.chain.transactions.find(number) ?? {};
      for (let trade = firstTrade; trade < firstTrade + trades; trade += 1) byField.trade(trade);
    },
    transactions: (numbers: readonly number[]) => {
      for (const number of numbers) byField.transaction(number);
    },
  };
  return byField;
}

/** Markets with events since the opening, and accounts that sent commands. */
export class Touched {
  readonly markets = new Set<number>();
  readonly accounts = new Set<Address>();

  /** Processes the next line; the state is the one after it. */
  take({ command, result }: ReplayedLine, state: State): void {
    const actor = command === null ? null : actorOf(command);
    if (actor !== null) this.accounts.add(actor);
    if (result.kind !== "accepted") return;
    for (const event of result.events) {
      const market = marketOfEvent(event, state);
      if (market !== null) this.markets.add(market);
    }
  }
}
