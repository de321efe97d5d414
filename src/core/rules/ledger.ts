import { type Account, availableOf, type Balance, emptyBalance, Holding, hasPending } from "../account.ts";
import { type Chain, canSettleInBatch, miningModeOf } from "../chain/chain.ts";
import { USDC } from "../chain/settlement.ts";
import type { Move, SupplyChange } from "../chain/transaction.ts";
import type { DomainEvent } from "../events.ts";
import { type Market, marketOfToken, outcomeOf, type Supply, tokenIdIn } from "../market.ts";
import type { Shortfall } from "../refusals.ts";
import { FEES, type State } from "../state.ts";
import type { BalancePolicy, Outcome, Side } from "../terms.ts";
import { FULL_PRICE, MAX_ISSUANCE, type Money, money, notional, type Size, size } from "../units.ts";

/** Returns the holding of an account in a market, creating it if necessary; only `apply` may call it. */
export function ensureHolding(account: Account, market: number): Holding {
  let holding = account.holdings.get(market);
  if (holding === undefined) {
    holding = Holding.make({ market, yes: emptyBalance(), no: emptyBalance() });
    account.holdings.set(market, holding);
  }
  return holding;
}

export const sharesIn = (holding: Holding, outcome: Outcome): Balance<Size> =>
  outcome === "YES" ? holding.yes : holding.no;

/** Returns the part of the account's grant not yet minted in this market. */
export const grantDue = (account: Account | undefined, market: number): Size =>
  size(account === undefined ? 0 : account.everyMarket - (account.holdings.get(market)?.granted ?? 0));

/**
 * Returns the events that mint an account's grant in the markets it touches and, if its grant is raised, in those that it
 * touched before. Ordered by market; `first` is the number of the transaction of the first mint.
 */
export function grantMintEvents(
  { number: account, known }: { readonly number: number; readonly known: Account | undefined },
  touched: Iterable<number>,
  raise: Size,
  first: number,
): DomainEvent<"grantMinted">[] {
  const before = raise > 0 && known !== undefined ? known.holdings.keys() : [];
  const minted: DomainEvent<"grantMinted">[] = [];
  for (const market of [...new Set([...touched, ...before])].sort((a, b) => a - b)) {
    const due = size(grantDue(known, market) + raise);
    if (due === 0) continue;
    minted.push({ kind: "grantMinted", account, market, size: due, transaction: first + minted.length });
  }
  return minted;
}

/** Returns the USDC that must be issued to back minted grants. */
export const backingOf = (minted: readonly DomainEvent<"grantMinted">[]): number =>
  minted.reduce((sum, grant) => sum + notional(FULL_PRICE, grant.size), 0);

export const issuanceLeft = (state: State): Money => money(MAX_ISSUANCE - state.issued);

const EMPTY_BALANCE: Balance<never> = emptyBalance();

/** Returns the balance of USDC or of a token without creating a holding. */
export function balanceOf(account: Account | undefined, token: number): Readonly<Balance<number>> {
  if (account === undefined) return EMPTY_BALANCE;
  if (token === USDC) return account.collateral;
  const holding = account.holdings.get(marketOfToken(token));
  return holding === undefined ? EMPTY_BALANCE : sharesIn(holding, outcomeOf(token));
}

/** Returns the shortfall of an order that must reserve `required`; null if the account has enough. */
export function shortfallOf(
  account: Account | undefined,
  market: Market,
  { side, token }: { readonly side: Side; readonly token: number },
  required: number,
  policy: BalancePolicy,
): Shortfall | null {
  const isBuyer = side === "BUY";
  const owned = balanceOf(account, isBuyer ? USDC : token);
  const due = isBuyer ? 0 : grantDue(account, market.number);
  const available = availableOf(owned, policy) + due;
  if (required <= available) return null;
  const asset = isBuyer ? "USDC" : tokenIdIn(market, outcomeOf(token));
  const { balance, reserved, incoming } = owned;
  return { asset, required, available, balance: balance + due, reserved, incoming };
}

/** Adds to a balance; a negative amount debits. @throws Error if it falls below the reserved amount. */
export function credit<Unit extends Money | Size>(balance: Balance<Unit>, amount: number): void {
  balance.balance = (balance.balance + amount) as Unit;
  if (balance.balance < balance.reserved)
    throw new Error(`balance ${balance.balance} below reserved ${balance.reserved}`);
}

/** Reserves part of a balance; a negative amount releases. @throws Error if less is available or reserved. */
export function reserve<Unit extends Money | Size>(balance: Balance<Unit>, amount: number): void {
  balance.reserved = (balance.reserved + amount) as Unit;
  if (balance.reserved < 0 || balance.reserved > balance.balance) {
    throw new Error(`reserved ${balance.reserved} of a balance of ${balance.balance}`);
  }
}

/** Returns the balance of USDC or of a token, creating it if necessary; only `apply` may call it. */
function ensureBalance(state: State, account: number, token: number): Balance<number> {
  const record = state.accounts.get(account);
  if (token === USDC) return record.collateral;
  return sharesIn(ensureHolding(record, marketOfToken(token)), outcomeOf(token));
}

/** 1 to add, -1 to undo. */
export type Sign = 1 | -1;

/** Adds moves to the ledger, or undoes them. Balances are only checked after the whole command is applied. */
export function addMoves(state: State, moves: readonly Move[], sign: Sign): void {
  for (const { account, token, amount } of moves)
    ensureBalance(state, account, token).balance += sign * amount;
}

/** Adds moves to the pending amounts, or removes them. */
export function addPendingMoves(state: State, moves: readonly Move[], sign: Sign): void {
  for (const { account, token, amount } of moves) {
    const balance = ensureBalance(state, account, token);
    if (amount > 0) balance.incoming += sign * amount;
    else balance.outgoing -= sign * amount;
  }
}

export function changeSupply(
  supply: Supply,
  { yes, no, collateral }: Omit<SupplyChange, "market">,
  sign: Sign = 1,
): void {
  supply.yes = size(supply.yes + sign * yes);
  supply.no = size(supply.no + sign * no);
  supply.collateral = money(supply.collateral + sign * collateral);
}

/** Whether fills are never pending, because the command that makes them also mines their block. */
export const settlesInstantly = ({ config, chain }: State): boolean =>
  miningModeOf(chain, config) === "instant" && canSettleInBatch(chain);

/** Lists balances that are about to get their first pending amount. */
export function listPendingBalances(
  { pendingBalances }: Chain,
  { number, collateral }: Account,
  market: number,
  shares: Balance<Size>,
): void {
  if (!hasPending(collateral)) pendingBalances.push(number, 0);
  if (!hasPending(shares)) pendingBalances.push(number, market);
}

/** Settles all pending amounts at once: the chain equals the ledger. */
export function settleAllPending({ accounts, markets, chain }: State): void {
  const { pendingBalances } = chain;
  for (let index = 0; index < pendingBalances.length; index += 2) {
    const { collateral, holdings } = accounts.get(pendingBalances[index] as number);
    const market = pendingBalances[index + 1] as number;
    if (market === 0) {
      clearPending(collateral);
      continue;
    }
    const holding = holdings.get(market);
    if (holding === undefined) throw new Error(`market ${market} has pending shares without a holding`);
    clearPending(holding.yes);
    clearPending(holding.no);
    const { supply, onChain } = markets.get(market);
    onChain.yes = supply.yes;
    onChain.no = supply.no;
    onChain.collateral = supply.collateral;
  }
}

function clearPending(balance: Balance<number>): void {
  balance.incoming = 0;
  balance.outgoing = 0;
}

/** Adds a fill of one party to its pending amounts. A seller's fee is deducted from the incoming amount. */
export function addPendingFill(
  collateral: Balance<number>,
  shares: Balance<number>,
  isBuyer: boolean,
  value: number,
  size: number,
  fee: number,
): void {
  if (isBuyer) {
    collateral.outgoing += value + fee;
    shares.incoming += size;
  } else {
    collateral.incoming += value - fee;
    shares.outgoing += size;
  }
}

export function addPendingFee(state: State, fee: Money): void {
  const { collateral } = state.accounts.get(FEES);
  if (collateral.incoming === 0) state.chain.pendingBalances.push(FEES, 0);
  collateral.incoming = (collateral.incoming + fee) as Money;
}
