import * as z from "zod";
import { NO_SLOT } from "../core/book/order-pool.ts";
import {
  baseFeeOf,
  type Chain,
  confirmationsOf,
  emptyWallet,
  headOf,
  maxFeeOf,
} from "../core/chain/chain.ts";
import { transactionHash } from "../core/chain/chain-hashes.ts";
import { blockOf, settledAt, tradeStatus } from "../core/chain/settlement.ts";
import type { CallContent, HoldReason, Transaction } from "../core/chain/transaction.ts";
import { counted, decimalText, priceText, SIZE_PLACES, sizeText } from "../core/format.ts";
import { idOf } from "../core/ids.ts";
import { outcomeOf } from "../core/market.ts";
import { type Order, remainingOf } from "../core/order.ts";
import type { State } from "../core/state.ts";
import { toIso } from "../core/time.ts";
import type { Millis } from "../core/units.ts";
import { endpoints } from "./endpoint.ts";
import * as field from "./schemas.ts";
import { exactly, type ReplyOf } from "./schemas.ts";
import { fillsOf, orderReply, orderSchema, tradeReply, tradeSchema } from "./trading.ts";
import { checksummed, type View } from "./view.ts";

const orderStorySchema = exactly("OrderStory", {
  order: orderSchema,
  owner: field.address,
  summary: z.string(),
  story: z.array(exactly("StoryLine", { at: field.moment, what: z.string() })),
  queue: exactly("QueuePlace", {
    joinedBehind: z.strictObject({ orders: field.count, shares: field.shares }),
    nowBehind: z.strictObject({ orders: field.count, shares: field.shares }),
  }).nullable(),
  fills: z.array(tradeSchema),
});

/** GET /sim/orders/{id} (contract, section 7). */
export const orderStoryEndpoints = endpoints("control", "Control plane", {
  explainOrder: {
    route: "GET /sim/orders/{id}",
    summary: "History of an order: queue position, every fill, reason of its end",
    reply: orderStorySchema,
    errors: ["ORDER_NOT_FOUND"],
  },
});

/** Explains an order's state: its matches on arrival, the queue it joined, every fill, and what ended it. */
export function orderStory(view: View, order: Order): ReplyOf<typeof orderStorySchema> {
  const fills = fillsOf(view, order);
  const line = (at: Millis, what: string) => ({ at: toIso(at), what });
  const story = [line(order.createdAt, arrivalOf(view, order))];
  for (const { trade, role } of fills) {
    const counter = idOf(view.state.idPrefixes.order, role === "TAKER" ? trade.maker : trade.taker);
    const price = role === "TAKER" ? trade.price : order.price;
    const against = role === "TAKER" ? "against the resting order" : "by the order";
    const fill = `filled ${sizeText(trade.size)} @ ${priceText(price)} (${trade.matchType})`;
    story.push(line(trade.at, `${fill}: ${against} ${counter}`));
  }
  if (order.rested) {
    const taken = fills.filter(({ role }) => role === "TAKER").length;
    story.splice(taken + 1, 0, line(order.createdAt, joiningOf(order)));
  }
  if (order.status !== "LIVE") story.push(line(order.updatedAt, endingOf(view, order)));
  const settlements = new Map<string | number, ReturnType<typeof line>>();
  for (const number of new Set(fills.map(({ trade }) => trade.transaction))) {
    const transaction = view.state.chain.transactions.get(number);
    const words = settlementWords(view.state, transaction);
    const end = settledAt(view.state, view.state.trades.get(transaction.firstTrade));
    // Transactions that wait for the same block share a line.
    const key = transaction.status === "PENDING" ? String(words) : number;
    if (words !== null) settlements.set(key, line(end, words));
  }
  story.push(...settlements.values());
  story.sort((a, b) => (a.at < b.at ? -1 : a.at === b.at ? 0 : 1));
  return {
    order: orderReply(view, order),
    owner: checksummed(view.state.accounts.get(order.account).address),
    summary: summaryOf(view, order) + failureOf(view.state, fills),
    story,
    queue: order.rested ? queueOf(view, order) : null,
    fills: fills.map(({ trade, role }) => tradeReply(view, trade, role)),
  };
}

/** Names the account's own order that blocked this one, as the end of a sentence; empty if there was none. */
const blockingOwnOrder = ({ state }: View, order: Order): string =>
  order.blockingOwnOrder === 0
    ? ""
    : `; order ${idOf(state.idPrefixes.order, order.blockingOwnOrder)} of the same account blocked it`;

function arrivalOf(view: View, order: Order): string {
  const outcome = outcomeOf(order.token);
  const what = `${order.side} ${sizeText(order.size)} ${outcome} @ ${priceText(order.price)} ${order.orderType}`;
  const opposite = order.side === "BUY" ? "ask" : "bid";
  if (order.touch === null) return `${what} arrived: the book had no ${opposite}s`;
  const touch = `the best ${opposite} was ${priceText(order.touch)}`;
  const own = blockingOwnOrder(view, order);
  if (order.fillableSize > 0 || own !== "") {
    return `${what} arrived: ${touch}, and ${sizeText(order.fillableSize)} of ${sizeText(order.size)} could be filled within its limit${own}`;
  }
  return `${what} arrived: ${touch}, beyond its limit`;
}

const joiningOf = (order: Order): string =>
  order.ordersAhead === 0
    ? `joined an empty level at ${priceText(order.price)}, first in the queue`
    : `joined the queue at ${priceText(order.price)} behind ${counted(order.ordersAhead, "order")} of ${sizeText(order.sizeAhead)} shares together`;

function endingOf(view: View, order: Order): string {
  const matched = `${sizeText(order.matched)} of ${sizeText(order.size)} matched`;
  if (order.status === "EXPIRED") return `expired at its expiration, ${matched}`;
  switch (order.cancelReason) {
    case null:
      return "matched completely";
    case "USER":
      return `canceled by its owner, ${matched}`;
    case "FOK_UNFILLED":
      return `killed: fill-or-kill needs ${sizeText(order.size)}, only ${sizeText(order.fillableSize)} could be filled${blockingOwnOrder(view, order)}`;
    case "FAK_UNFILLED":
      return `canceled: nothing could be filled within its limit, and fill-and-kill never rests${blockingOwnOrder(view, order)}`;
    case "FAK_REMAINDER":
      return `the remaining ${sizeText(remainingOf(order))} canceled: fill-and-kill never rests`;
    case "SELF_TRADE":
      return `canceled by the market's self-trade policy: it met an order of the same account, ${matched}${blockingOwnOrder(view, order)}`;
    case "MARKET_CLOSED":
      return `canceled because the market closed, ${matched}`;
    case "SETTLEMENT_FAILED":
      return `canceled: a failed settlement, or a transfer on the chain, took the funds that it needs; ${matched}`;
  }
}

/** Says how many matched shares did not change hands, as the end of a sentence; empty if there are none. */
function failureOf(state: State, fills: ReturnType<typeof fillsOf>): string {
  const failed = fills.filter(({ trade }) => tradeStatus(state, trade) === "FAILED");
  const size = failed.reduce((sum, { trade }) => sum + trade.size, 0);
  return size === 0 ? "" : `; the settlement of ${sizeText(size)} failed`;
}

function summaryOf(view: View, order: Order): string {
  if (order.status !== "LIVE") return endingOf(view, order);
  const open = `${sizeText(remainingOf(order))} of ${sizeText(order.size)} still open`;
  if (order.touch === null) return `rests with ${open}: the opposite side was empty when it arrived`;
  return order.fillableSize === 0
    ? `rests with ${open}: the best opposite price ${priceText(order.touch)} was beyond its limit ${priceText(order.price)}`
    : `rests with ${open}: it filled all that could be filled within its limit ${priceText(order.price)}`;
}

/** Returns the orders and shares ahead of an order when it joined and now (zero once it has left). */
function queueOf({ state, numbers }: View, order: Order) {
  let orders = 0;
  let open = 0;
  for (let slot = order.slot; slot !== NO_SLOT; ) {
    slot = state.pool.before(slot);
    if (slot === NO_SLOT) break;
    orders += 1;
    open += state.pool.openIn(slot);
  }
  return {
    joinedBehind: { orders: order.ordersAhead, shares: numbers.size(order.sizeAhead) },
    nowBehind: { orders, shares: numbers.decimal(open, SIZE_PLACES) },
  };
}

/** Returns why a transaction is not mined or has failed; null if it is mined. */
export function whyUnsettled(state: State, transaction: Transaction): string | null {
  const { status, exception, content } = transaction;
  switch (status) {
    case "MINED":
      return null;
    case "PENDING":
      return content?.kind === "deposit" || content?.kind === "prepare"
        ? "already in effect; the next block will include it"
        : waitReason(state, transaction);
    case "REPLACED":
      return "another transaction of its sender has its nonce";
    default:
      return exception?.reason ?? null;
  }
}

function waitReason(state: State, transaction: Transaction): string {
  const { chain, config } = state;
  const { exception } = transaction;
  switch (holdOf(chain, transaction)) {
    case "DELAYED":
      return `delayed until block ${exception?.notBefore}`;
    case "UNDERPRICED":
      return underpricedWords(chain, transaction);
    case "UNFUNDED":
      return `retried: a party lacks funds that it has not yet received on the chain (attempt ${exception?.attempts})`;
    case "RETRIED":
      return `retried after attempt ${exception?.attempts} failed`;
    case "NONCE_GAP":
      return "waits for an earlier nonce of its sender";
    case "NO_GAS_MONEY":
      return "waits until its sender can pay for gas";
    case "REORGANIZED":
      return "taken out of its block by a reorganization, waits for the next block";
    case null:
      if (chain.nextBlockAt !== null) return `waits for the block that is due at ${toIso(chain.nextBlockAt)}`;
      return config.settlement === "manual" ? "waits until a block is mined" : "waits for the next block";
  }
}

function underpricedWords(chain: Chain, transaction: Transaction): string {
  const fees = `the base fee is ${gweiText(baseFeeOf(chain))} gwei`;
  const offer = gweiText(maxFeeOf(transaction));
  return transaction.content?.kind === "call"
    ? `waits until the base fee falls, or a transaction with its nonce and a higher fee replaces it: ${fees}, it offers ${offer}`
    : `waits until its fee is raised or the base fee falls: ${fees}, the exchange offers ${offer}`;
}

const gweiText = (wei: number): string => decimalText(wei, 9);

/**
 * Returns why the next block will not have a transaction; null if it may. Fees and nonces are compared here, because
 * `hold` is what the last block found.
 */
function holdOf(chain: Chain, transaction: Transaction): HoldReason | null {
  const { exception, content } = transaction;
  const hold = exception?.hold ?? null;
  if (content?.kind === "call" && followsUnminable(chain, content)) return "NONCE_GAP";
  if (hold !== "DELAYED" && isUnderpriced(chain, transaction)) return "UNDERPRICED";
  return hold === "UNDERPRICED" ? null : hold;
}

const isUnderpriced = (chain: Chain, transaction: Transaction): boolean =>
  maxFeeOf(transaction) < baseFeeOf(chain);

/** Whether an earlier nonce of a call's wallet is missing, or its transaction is underpriced. */
function followsUnminable(chain: Chain, { from, nonce }: CallContent): boolean {
  const { mined, pending } = chain.wallets.get(from) ?? emptyWallet(from);
  for (let earlier = mined; earlier < nonce; earlier += 1) {
    const number = pending.get(earlier);
    if (number === undefined || isUnderpriced(chain, chain.transactions.get(number))) return true;
  }
  return false;
}

/** Describes the progress of a settlement; null if it is final and succeeded. */
export function settlementWords(state: State, transaction: Transaction): string | null {
  const { status } = transaction;
  const block = blockOf(state.chain, transaction);
  const why = whyUnsettled(state, transaction);
  if (status === "MINED" && block !== null) {
    const needed = confirmationsOf(state.config.settlement);
    const left = block.height + needed - headOf(state.chain);
    if (left <= 0) return null;
    const hash = transactionHash(state, transaction);
    return `mined in block ${block.height} (${hash}), final after ${left} of ${needed} more blocks`;
  }
  if (status === "PENDING") return `settlement ${why}`;
  if (status === "LOST") return "settlement lost: it will never be mined, though the ledger counts on it";
  // A dependent settlement fails outside of blocks; a reorganization takes a reverted one out of its block.
  const where = block === null ? ", in no block" : ` in block ${block.height}`;
  return `settlement failed${where}: ${why}; USDC and shares went back to all parties, the matched size stays`;
}
