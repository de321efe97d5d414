import { marketOfToken, tokenOf } from "../market.ts";
import { ORDER_PACKING, type Order, type Trade } from "../order.ts";
import { FEES, type State } from "../state.ts";
import { FULL_PRICE, type Millis, notional, type Price, type Size } from "../units.ts";
import { type Block, blockAt, type Chain, confirmationsOf, headBlock, headOf } from "./chain.ts";
import type { Move, SupplyChange, Transaction, TransactionException } from "./transaction.ts";

/** Token number of USDC; no market has number 0. */
export const USDC = 0;

/** Called with a change of a balance: micro-USDC if the token is 0, else size units of a token. */
type MoveVisitor = (account: number, token: number, amount: number) => void;

/**
 * Visits the changes of balances by a transaction, in order. Issued and minted amounts have no sender; locked and burned
 * amounts have no receiver.
 */
export function visitMoves(state: State, transaction: Transaction, visit: MoveVisitor): void {
  const { content, firstTrade, trades } = transaction;
  switch (content?.kind) {
    case undefined:
      for (let number = firstTrade; number < firstTrade + trades; number += 1)
        visitTrade(state, state.trades.get(number), visit);
      break;
    case "deposit": {
      const { account, collateral, market, size, yes, no } = content;
      if (market === 0) visit(account, USDC, collateral);
      else {
        visit(yes, tokenOf(market, "YES"), size);
        visit(no, tokenOf(market, "NO"), size);
      }
      break;
    }
    case "call":
      for (const { account, token, amount } of transaction.exception?.effect?.moves ?? [])
        visit(account, token, amount);
      break;
    default:
  }
}

/** Returns the same as a list. */
export function movesOf(state: State, transaction: Transaction): Move[] {
  const moves: Move[] = [];
  visitMoves(state, transaction, (account, token, amount) => moves.push({ account, token, amount }));
  return moves;
}

const NO_CHANGES: readonly SupplyChange[] = [];

export function supplyChangesOf(state: State, transaction: Transaction): readonly SupplyChange[] {
  const { content, firstTrade, trades } = transaction;
  switch (content?.kind) {
    case undefined: {
      let changes = NO_CHANGES;
      for (let number = firstTrade; number < firstTrade + trades; number += 1) {
        const { taker, size, matchType } = state.trades.get(number);
        if (matchType === "COMPLEMENTARY") continue;
        const market = marketOfToken(state.orders.part(taker, partyOf).token);
        changes = [...changes, setsOf(market, matchType === "MINT" ? size : -size)];
      }
      return changes;
    }
    case "deposit":
      return content.market === 0 ? NO_CHANGES : [setsOf(content.market, content.size)];
    case "call": {
      const supply = transaction.exception?.effect?.supply ?? null;
      return supply === null ? NO_CHANGES : [supply];
    }
    default:
      return NO_CHANGES;
  }
}

/** Returns the trades that a match transaction settles, in order. */
export function tradesOf({ trades }: State, { firstTrade, trades: count }: Transaction): Trade[] {
  return Array.from({ length: count }, (_, index) => trades.get(firstTrade + index));
}

/** What a settlement reads of an order. */
const partyOf = ORDER_PACKING.part("account", "token", "side", "price");
type Party = Pick<Order, "account" | "token" | "side" | "price">;

function visitTrade({ orders }: State, { taker, maker, price, size, fee }: Trade, visit: MoveVisitor): void {
  const made = orders.part(maker, partyOf);
  // A maker fills at its own price.
  visitParty(made, made.price, size, 0, visit);
  visitParty(orders.part(taker, partyOf), price, size, fee, visit);
  if (fee > 0) visit(FEES, USDC, fee);
}

function visitParty(order: Party, price: Price, size: Size, fee: number, visit: MoveVisitor): void {
  const { account, token, side } = order;
  const bought = side === "BUY" ? 1 : -1;
  visit(account, USDC, -bought * notional(price, size) - fee);
  visit(account, token, bought * size);
}

/** Returns the supply change of minting `size` full sets; negative for merging. */
export const setsOf = (market: number, size: number): SupplyChange => ({
  market,
  yes: size,
  no: size,
  collateral: size * FULL_PRICE,
});

/** Progress of the settlement of a fill. */
export const SETTLEMENT_STATUSES = ["MATCHED", "MINED", "CONFIRMED", "RETRYING", "FAILED"] as const;
export type SettlementStatus = (typeof SETTLEMENT_STATUSES)[number];

export const finalHeight = ({ chain, config }: State): number =>
  Math.max(0, headOf(chain) - confirmationsOf(config.settlement));

export const blockOf = (chain: Chain, { block }: Transaction): Block | null =>
  block === 0 ? null : chain.blocks.get(block);

export function settlementStatus(state: State, transaction: Transaction): SettlementStatus {
  switch (transaction.status) {
    case "PENDING":
      return (transaction.exception?.attempts ?? 0) > 0 ? "RETRYING" : "MATCHED";
    case "MINED": {
      const height = blockOf(state.chain, transaction)?.height ?? 0;
      return height <= finalHeight(state) ? "CONFIRMED" : "MINED";
    }
    case "LOST":
      return "MATCHED";
    default:
      return "FAILED";
  }
}

export const tradeStatus = (state: State, { transaction }: Trade): SettlementStatus =>
  settlementStatus(state, state.chain.transactions.get(transaction));

/** Returns when a trade reached its current status, or when its settlement was last deferred. */
export function settledAt(state: State, trade: Trade): Millis {
  const { chain, config } = state;
  const transaction = chain.transactions.get(trade.transaction);
  const { status, exception } = transaction;
  if (status === "FAILED") return exception?.endedAt ?? trade.at;
  if (status === "PENDING") return deferredAt(chain, exception) ?? trade.at;
  const block = blockOf(chain, transaction);
  if (block === null) return trade.at;
  if (settlementStatus(state, transaction) !== "CONFIRMED") return block.at;
  return blockAt(chain, block.height + confirmationsOf(config.settlement))?.at ?? block.at;
}

/** Returns when a pending transaction was last deferred; undefined if it was not, or is delayed, whose time is not known. */
function deferredAt(chain: Chain, exception: TransactionException | null): Millis | undefined {
  if (exception === null || exception.hold === null || exception.hold === "DELAYED") return undefined;
  // The reorganization replaced the head, and the next block executes or defers the transaction.
  if (exception.hold === "REORGANIZED") return headBlock(chain).at;
  return blockAt(chain, exception.notBefore - 1)?.at;
}
