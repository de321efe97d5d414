import type { PositionChange } from "../../api/position-transaction.ts";
import type { Declarations } from "./declarations.ts";
import { oneOf, positive, SHARES, textNodeOf, USDC, unitsIn } from "./fields.ts";
import { LineWords, type Word } from "./line-words.ts";
import { meantWord } from "./near-misses.ts";
import { readOrderLine } from "./order-line.ts";
import { linesAt, orderStateAt, readFillLine, rejectsAt } from "./own-expectations.ts";
import { type Node, orOf } from "./page.ts";
import {
  type CallStep,
  type Funding,
  type OwnExpectations,
  type Step,
  TRANSACTION_CODES,
} from "./scenario.ts";
import { type Beside, type StepContent, type StepInfo, type StepSource, step } from "./step-source.ts";
import { OUTCOMES, SIDES } from "./vocabulary.ts";

const CALL_VERBS = ["split", "merge", "redeem"] as const;
const VERBS: readonly string[] = [...SIDES, "cancel", "fund", ...CALL_VERBS];
const ASSETS = ["USDC", ...OUTCOMES] as const;
const SETS = positive({ ...SHARES, what: "a number of sets" });

const status = (node: Node, { page }: StepSource) => orderStateAt(page, node);
const rejects = (node: Node, { page }: StepSource) => rejectsAt(page, node);
const fills = (node: Node, { page, declared }: StepSource) =>
  linesAt(page, node, (line) => readFillLine(line, declared));
const transactionCode = (node: Node, { page }: StepSource) => ({
  value: oneOf(page, node, TRANSACTION_CODES),
  place: page.placeOf(node),
});

const expectsOf = (
  beside: Partial<Beside<{ status: typeof status; fills: typeof fills; rejects: typeof rejects }>>,
): OwnExpectations => ({
  status: beside.status ?? null,
  fills: beside.fills ?? null,
  rejects: beside.rejects ?? null,
});

/** The words of what an account does. */
const lineOf = ({ page, head }: StepSource): LineWords =>
  LineWords.at(page, head.value, `${orOf(VERBS)} and what belongs to it`);

const isGiven = ({ beside }: StepSource, name: string): boolean =>
  beside.some(({ key }) => key.value === name);

/** What accounts do: `alice: BUY 10 YES @ 0.5`, `alice: cancel bid`, `alice: fund 100 USDC`, `alice: split 10`. */
export const ACCOUNT_STEPS = {
  order: step({
    name: "BUY, SELL",
    form: "`alice: BUY 10 YES @ 0.50 GTD +60s as bid`",
    does: "places an order: `BUY`, `SELL`; `YES`, `NO`; `GTC`, `FOK`, `FAK`, `GTD`; `in MARKET`",
    control: (order) =>
      order.kind === "order" && order.exact?.expiry != null && "at" in order.exact.expiry
        ? "an expiration at a moment of its own clock"
        : null,
    refusals: ["rejects"],
    beside: { status, fills, rejects },
    read: (source, beside) => {
      const { page, head, declared } = source;
      const besides = ["status", "fills"].flatMap(
        (name) => source.beside.find(({ key }) => key.value === name) ?? [],
      );
      if (isGiven(source, "rejects") && besides[0] !== undefined) {
        const { start, value } = besides[0].key;
        page.wrong(start, `an order that is rejected has no ${value}`);
      }
      const order = readOrderLine(lineOf(source), declared, isGiven(source, "rejects"));
      return { kind: "order", account: head.key.value, ...order, expects: expectsOf(beside) };
    },
  }),
  cancel: step({
    form: "`alice: cancel bid`",
    does: "cancels one of her orders",
    refusals: ["rejects", "already matched", "already canceled", "already expired"],
    beside: { status, rejects },
    read: (source, beside) => {
      const { head, declared } = source;
      const line = lineOf(source);
      line.takeIf("cancel");
      const { text, at } = line.take("the name of an order, or all");
      const order = isGiven(source, "rejects")
        ? declared.rounds.named([text, line.rest()].join(" ").trimEnd())
        : declared.orderNamed(line.page, at, text);
      line.requireEnd();
      return { kind: "cancel", account: head.key.value, order, expects: expectsOf(beside) };
    },
  }),
  cancelAll: step({
    name: "cancel all",
    form: "`alice: cancel all`",
    does: "cancels all of her orders",
    refusals: ["rejects"],
    beside: { rejects },
    read: (source, beside) => {
      const line = lineOf(source);
      line.takeIf("cancel");
      line.takeIf("all");
      line.requireEnd();
      return { kind: "cancelAll", account: source.head.key.value, expects: expectsOf(beside) };
    },
  }),
  fund: step({
    form: "`alice: fund 100 USDC`, `alice: fund 10 YES`",
    does: "gives USDC or shares",
    control: true,
    read: (source) => {
      const line = lineOf(source);
      line.takeIf("fund");
      return { kind: "fund", account: source.head.key.value, funding: fundingOf(line, source.declared) };
    },
  }),
  split: call("split", "`alice: split 10`", "10 USDC become 10 YES and 10 NO on the chain; `in MARKET`"),
  merge: call("merge", "`alice: merge 10`", "and back; `in MARKET`"),
  redeem: call("redeem", "`alice: redeem`", "pays out her shares of both outcomes on the chain; `in MARKET`"),
} satisfies Partial<Record<Step["kind"], StepInfo>>;

/** Which of them a line is. */
export function accountStepOf({ page, head }: StepSource): StepInfo {
  const expected = `${orOf(VERBS)} and what belongs to it`;
  const { start, value } = textNodeOf(page, head.value, expected);
  const line = LineWords.at(page, head.value, expected);
  const [verb, next] = line.left;
  if (verb === undefined) throw page.unexpected(start, expected, value);
  if (verb.text === "cancel") return ACCOUNT_STEPS[next?.text === "all" ? "cancelAll" : "cancel"];
  const other = (["fund", ...CALL_VERBS] as const).find((each) => each === verb.text);
  if (other !== undefined) return ACCOUNT_STEPS[other];
  const isOrder = meantWord(verb.text, SIDES) !== undefined || line.left.some(isOfOrder);
  if (isOrder) return ACCOUNT_STEPS.order;
  throw page.unexpected(verb.at, orOf(VERBS), verb.text, [...VERBS, "cancel all"]);
}

/** Whether a word is one that only an order has. */
const isOfOrder = ({ text }: Word): boolean =>
  text.startsWith("@") || SIDES.some((side) => side === text.toUpperCase());

function fundingOf(line: LineWords, declared: Declarations): Funding {
  const { page } = line;
  const { text, at } = line.take("an amount");
  const [after] = line.left;
  if (after !== undefined && ASSETS.some((asset) => asset === text)) {
    throw page.unexpected(at, "an amount", text, [], `fund ${after.text} ${text}`);
  }
  const asset = line.oneOf(ASSETS);
  if (asset === "USDC") {
    const amount = unitsIn<Extract<Funding, { asset: "USDC" }>["amount"]>(page, at, text, positive(USDC));
    line.requireEnd();
    return { asset, amount };
  }
  const amount = unitsIn<Exclude<Funding, { asset: "USDC" }>["amount"]>(page, at, text, positive(SHARES));
  const market = line.market();
  const kept = declared.market(page, market?.at ?? line.end, market?.text ?? null);
  line.requireEnd();
  return { asset: { market: kept, outcome: asset }, amount };
}

/** What a wallet does on the chain, `split 10 in rain`, `merge 10` or `redeem`. */
function call(kind: CallStep["kind"], form: string, does: string): StepInfo {
  return step({
    form,
    does,
    control: true,
    refusals: TRANSACTION_CODES,
    beside: { rejects: transactionCode },
    read: (source, { rejects: code }): StepContent<CallStep> => {
      const line = lineOf(source);
      line.takeIf(kind);
      const change: PositionChange = kind === "redeem" ? { kind } : { kind, size: line.decimal(SETS) };
      const market = source.declared.marketOf(line);
      line.requireEnd("in MARKET or the end of the line", ["in"]);
      return { kind, account: source.head.key.value, market, change, rejects: code ?? null };
    },
  });
}
