import type { PositionChange } from "../../api/contracts.ts";
import { anyOf, OUTCOMES, SIDES } from "../../core/terms.ts";
import type { Money, Size } from "../../core/units.ts";
import type { Declarations, Funding } from "./declarations.ts";
import { keyOf, LineWords, oneOf, positive, SHARES, USDC, units } from "./fields.ts";
import { linesAt, NOT_LIVE, orderStateAt, readFillLine, readOrderLine, rejectsAt } from "./order-line.ts";
import { meaning, meantWord, type Node, type Word } from "./page.ts";
import { type StepSource, step } from "./step-source.ts";

/** Why a wallet's transaction is not accepted: it would revert, or the node refuses it. */
export const TRANSACTION_CODES = ["TRANSACTION_REVERTED", "TRANSACTION_REFUSED"] as const;

const CALL_VERBS = ["split", "merge", "redeem"] as const;
const VERBS: readonly string[] = [...SIDES, "cancel", "fund", ...CALL_VERBS];
const ASSETS = ["USDC", ...OUTCOMES] as const;
const SETS = positive({ ...SHARES, what: "a number of sets" });

const fills = (node: Node, { declared }: StepSource) => linesAt(node, (line) => readFillLine(line, declared));
const transactionCode = (node: Node) => ({ value: oneOf(TRANSACTION_CODES)(node), place: node.place });

const LINE_RULE = `${anyOf(VERBS)} and what belongs to it`;

/** Reads the line of a step after its verbs. */
function lineAfter({ head }: StepSource, ...verbs: readonly string[]): LineWords {
  const line = new LineWords(head.value, LINE_RULE);
  for (const verb of verbs) line.takeIf(verb);
  return line;
}

/** Steps of accounts: `alice: BUY 10 YES @ 0.5`, `alice: cancel bid`, `alice: fund 100 USDC`, `alice: split 10`. */
export const ACCOUNT_STEPS = {
  order: step({
    name: "BUY, SELL",
    refusals: ["rejects"],
    beside: { status: orderStateAt, fills, rejects: rejectsAt },
    read: (source) => {
      const { head, declared, beside } = source;
      const isRejected = keyOf(beside, "rejects") !== undefined;
      const outcome = keyOf(beside, "status") ?? keyOf(beside, "fills");
      if (isRejected) outcome?.wrong(`an order that is rejected has no ${outcome.text}`);
      const order = readOrderLine(lineAfter(source), declared, isRejected);
      return { account: head.key.text, ...order };
    },
    control: ({ isDated }) => (isDated ? "an expiration at a moment of its own clock" : null),
  }),
  cancel: step({
    control: null,
    refusals: ["rejects", ...NOT_LIVE],
    beside: { status: orderStateAt, rejects: rejectsAt },
    read: (source) => {
      const { head, declared, beside } = source;
      const line = lineAfter(source, "cancel");
      const word = line.take("the name of an order, or all");
      const order = keyOf(beside, "rejects")
        ? declared.rounds.numbered([word.text, line.rest()].join(" ").trimEnd())
        : declared.orderNamed(word);
      line.requireEnd();
      return { account: head.key.text, order };
    },
  }),
  cancelAll: step({
    name: "cancel all",
    control: null,
    refusals: ["rejects"],
    beside: { rejects: rejectsAt },
    read: (source) => {
      lineAfter(source, "cancel", "all").requireEnd();
      return { account: source.head.key.text };
    },
  }),
  fund: step({
    read: (source) => ({
      account: source.head.key.text,
      funding: fundingOf(lineAfter(source, "fund"), source.declared),
    }),
  }),
  split: call("split"),
  merge: call("merge"),
  redeem: call("redeem"),
};

export function accountStepOf(source: StepSource): keyof typeof ACCOUNT_STEPS {
  const { left } = lineAfter(source);
  const [verb, next] = left;
  if (verb === undefined) throw source.head.value.unexpected(LINE_RULE);
  if (verb.text === "cancel") return next?.text === "all" ? "cancelAll" : "cancel";
  const other = (["fund", ...CALL_VERBS] as const).find((each) => each === verb.text);
  if (other !== undefined) return other;
  if (meantWord(verb.text, SIDES) !== undefined || left.some(isOfOrder)) return "order";
  throw verb.unexpected(anyOf(VERBS), [...VERBS, "cancel all"]);
}

/** Whether a line begins with the verb of an account's step, in upper or lower case. */
export const isAccountLine = ({ text }: Node): boolean =>
  VERBS.some((verb) => new RegExp(`^\\s*${verb}(?:\\s|$)`, "i").test(text));

/** Whether a word occurs only in orders. */
const isOfOrder = ({ text }: Word): boolean =>
  text.startsWith("@") || SIDES.some((side) => side === text.toUpperCase());

function fundingOf(line: LineWords, declared: Declarations): Funding {
  const amount = line.take("an amount");
  const [after] = line.left;
  if (after !== undefined && ASSETS.some((asset) => asset === amount.text))
    throw amount.unexpected("an amount", [], meaning(`fund ${after.text} ${amount.text}`));
  const asset = line.oneOf(ASSETS);
  if (asset !== "USDC") {
    const shares = units<Size>(positive(SHARES))(amount);
    return { asset: { market: declared.lastMarketOf(line), outcome: asset }, amount: shares };
  }
  const money = units<Money>(positive(USDC))(amount);
  line.requireEnd();
  return { asset, amount: money };
}

/** Declares a call of a wallet on the chain: `split 10 in rain`, `merge 10` or `redeem`. */
function call(kind: PositionChange["kind"]) {
  return step({
    refusals: TRANSACTION_CODES,
    beside: { rejects: transactionCode },
    read: (source) => {
      const line = lineAfter(source, kind);
      const change: PositionChange = kind === "redeem" ? { kind } : { kind, size: line.units(SETS) };
      return { account: source.head.key.text, market: source.declared.lastMarketOf(line), change };
    },
  });
}
