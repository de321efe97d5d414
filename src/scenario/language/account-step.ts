import type { PositionChange } from "../../api/position-transaction.ts";
import { type Declarations, readMarketWord } from "./declarations.ts";
import {
  entriesBy,
  moneyOf,
  oneOf,
  positive,
  ruleText,
  SHARES,
  sizeOf,
  textOf,
  USDC,
  wrongNumber,
} from "./fields.ts";
import { LineWords, type Word } from "./line-words.ts";
import { meantWord } from "./near-misses.ts";
import { readOrderLine } from "./order-line.ts";
import { readOwnExpectations } from "./own-expectations.ts";
import { type Entry, orOf, type Page } from "./page.ts";
import {
  type CallStep,
  type CancelAllStep,
  type CancelStep,
  type Funding,
  type FundStep,
  type OrderStep,
  type OwnExpectations,
  type Placed,
  TRANSACTION_CODES,
} from "./scenario.ts";
import { baseOf, type StepSource } from "./step-source.ts";
import { OUTCOMES, SIDES } from "./vocabulary.ts";

/** What a wallet does on the chain, as a step says it. */
const CALL_VERBS = ["split", "merge", "redeem"] as const;

const VERBS: readonly string[] = [...SIDES, "cancel", "fund", ...CALL_VERBS];
const ASSETS = ["USDC", ...OUTCOMES] as const;

type AccountStep = OrderStep | CancelStep | CancelAllStep | FundStep | CallStep;

/** Reads what an account does: `alice: BUY 10 YES @ 0.5`, `alice: cancel bid`, `alice: fund 100 USDC`, `alice: split 10`. */
export function readAccountStep(step: StepSource): AccountStep | null {
  const { page } = step.file;
  const { value } = step.head;
  const expected = `${orOf(VERBS)} and what belongs to it`;
  if (textOf(page, value, expected) === null || value.kind !== "text") return null;
  const line = new LineWords(page, value);
  const verb = line.peek();
  if (verb === undefined) return page.unexpected(value.start, expected, value.value);
  if (verb.text === "cancel") return readCancel(step, line);
  if (verb.text === "fund") return readFund(step, line);
  if (CALL_VERBS.some((call) => call === verb.text)) return readCall(step, line);
  const isOrder = meantWord(verb.text, SIDES) !== undefined || line.left.some(isOfOrder);
  if (isOrder) return readOrder(step, line);
  return page.unexpected(verb.at, orOf(VERBS), verb.text, [...VERBS, "cancel all"]);
}

/** Whether a word is one that only an order has. */
const isOfOrder = ({ text }: Word): boolean =>
  text.startsWith("@") || SIDES.some((side) => side === text.toUpperCase());

function readOrder(step: StepSource, line: LineWords): OrderStep | null {
  const { page } = step.file;
  const fields = entriesBy(page, step.beside, ["status", "fills", "rejects"]);
  const besides = fields.status ?? fields.fills;
  if (fields.rejects !== undefined && besides !== undefined) {
    page.wrong(besides.key.start, `an order that is rejected has no ${besides.key.value}`);
  }
  const expects = readOwnExpectations(step.file, fields, step.declared);
  const order = readOrderLine(line, step.declared, fields.rejects !== undefined);
  return order && { ...baseOf(step), kind: "order", account: step.head.key.value, ...order, expects };
}

function readCancel(step: StepSource, line: LineWords): CancelStep | CancelAllStep | null {
  const { file, head, beside, declared } = step;
  const { page } = file;
  line.takeIf("cancel");
  const order = line.peek();
  const expects = (keys: readonly ("status" | "rejects")[]): OwnExpectations =>
    readOwnExpectations(file, entriesBy(page, beside, keys), declared);
  const base = { ...baseOf(step), account: head.key.value };
  if (order?.text === "all") {
    line.takeIf("all");
    return line.isOver() ? { ...base, kind: "cancelAll", expects: expects(["rejects"]) } : null;
  }
  const own = expects(["status", "rejects"]);
  if (order === undefined) return line.ends("the name of an order, or all");
  const mayBeAny = beside.some(({ key }) => key.value === "rejects");
  line.takeIf(order.text);
  const name = mayBeAny
    ? declared.rounds.named([order.text, line.rest()].join(" ").trimEnd())
    : declared.orderNamed(page, order.at, order.text);
  if (name === null || !line.isOver()) return null;
  return { ...base, kind: "cancel", order: name, expects: own };
}

function readFund(step: StepSource, line: LineWords): FundStep | null {
  line.takeIf("fund");
  entriesBy(step.file.page, step.beside, []);
  const amount = line.take("an amount");
  const [after] = line.left;
  if (amount !== null && after !== undefined && ASSETS.some((asset) => asset === amount.text)) {
    const meant = `fund ${after.text} ${amount.text}`;
    return line.page.unexpected(amount.at, "an amount", amount.text, [], meant);
  }
  const asset = amount && line.oneOf(ASSETS, orOf(ASSETS));
  if (amount === null || asset === null) return null;
  const funding =
    asset === "USDC" ? moneyFunding(line, amount) : shareFunding(line, step.declared, amount, asset);
  if (funding === null || !line.isOver()) return null;
  return { ...baseOf(step), kind: "fund", account: step.head.key.value, funding };
}

function moneyFunding({ page }: LineWords, { text, at }: Word): Funding | null {
  const amount = moneyOf(text);
  if (amount === null || amount === 0) return wrongNumber(page, at, positive(USDC), text);
  return { asset: "USDC", amount };
}

function shareFunding(
  line: LineWords,
  declared: Declarations,
  { text, at }: Word,
  outcome: (typeof OUTCOMES)[number],
): Funding | null {
  const amount = sizeOf(text, positive(SHARES));
  if (amount === null) return wrongNumber(line.page, at, positive(SHARES), text);
  const market = line.takeIf("in") === null ? null : line.take("a market after in");
  const name = market?.text ?? null;
  if (!declared.hasMarket(name)) return declared.noMarket(line.page, market?.at ?? line.end, name);
  return { asset: { market: declared.marketName(name), outcome }, amount };
}

const SETS = positive({ ...SHARES, what: "a number of sets" });

/** Reads `split 10 in rain`, `merge 10`, `redeem`, the verb of which is still to be taken. */
function readCall(step: StepSource, line: LineWords): CallStep | null {
  const { page } = step.file;
  const verb = line.oneOf(CALL_VERBS, "");
  const { rejects } = entriesBy(page, step.beside, ["rejects"]);
  const change = verb && changeOf(line, verb);
  if (change === null) return null;
  const market = readMarketWord(line, step.declared);
  if (market === undefined || !line.isOver("in MARKET or the end of the line", ["in"])) return null;
  const account = step.head.key.value;
  return { ...baseOf(step), kind: change.kind, account, market, change, rejects: codeOf(page, rejects) };
}

function changeOf(line: LineWords, kind: CallStep["kind"]): PositionChange | null {
  if (kind === "redeem") return { kind };
  const word = line.take(ruleText(SETS));
  if (word === null) return null;
  const size = sizeOf(word.text, SETS);
  return size === null ? line.page.unexpected(word.at, ruleText(SETS), word.text) : { kind, size };
}

function codeOf(page: Page, entry: Entry | undefined): Placed<string> | null {
  const value = entry === undefined ? null : oneOf(page, entry.value, TRANSACTION_CODES);
  return entry === undefined || value === null ? null : { value, place: page.placeOf(entry.value) };
}
