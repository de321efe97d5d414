import { GAS_MONEY } from "../chain/chain.ts";
import { setsOf } from "../chain/moves.ts";
import type { DepositContent } from "../chain/transaction.ts";
import type {
  AccountOpened,
  CollateralIssued,
  CredentialsDerived,
  GrantMinted,
  GrantRaised,
  SetsIssued,
} from "../events.ts";
import { emptyAccount, type State } from "../state.ts";
import { FULL_PRICE, type Millis, money, notional, type Size, size } from "../units.ts";
import { addContent, walletIn } from "./chain/apply-transactions.ts";
import { changeSupply } from "./chain/supply.ts";
import { credit, holdingIn } from "./ledger.ts";

/** Opens the account of an address that had none. */
export function openAccount(state: State, event: AccountOpened): void {
  const number = state.accounts.add(emptyAccount(event.account, event.address));
  if (number !== event.account) throw new Error(`account ${event.account} opened as number ${number}`);
  state.accountByAddress.set(event.address, number);
}

/** Credits newly issued USDC. */
export function issueCollateral(state: State, event: CollateralIssued, at: Millis): void {
  const { account, amount: collateral, transaction } = event;
  const none = { market: 0, size: size(0), yes: 0, no: 0 };
  addContent(state, transaction, { kind: "deposit", at, account, collateral, ...none });
  giveGasMoney(state, account);
  credit(state.accounts.get(event.account).collateral, event.amount);
  state.issued = money(state.issued + event.amount);
}

/** Mints full sets from newly issued USDC. */
export function issueSets(
  state: State,
  { market, size, yes, no, transaction }: SetsIssued,
  at: Millis,
): void {
  noteSets(state, transaction, { market, size, yes, no }, at);
  mint(state, market, size, yes, no);
}

/** Raises what the account is granted in every market. */
export function raiseGrant(state: State, event: GrantRaised): void {
  const account = state.accounts.get(event.account);
  account.everyMarket = size(account.everyMarket + event.size);
}

/** Mints the account's grant in one market. */
export function mintGrant(state: State, event: GrantMinted, at: Millis): void {
  const holding = holdingIn(state.accounts.get(event.account), event.market);
  holding.granted = size(holding.granted + event.size);
  const { account, market, size: shares, transaction } = event;
  noteSets(state, transaction, { market, size: shares, yes: account, no: account }, at);
  mint(state, market, shares, account, account);
}

/** Counts a derivation of credentials. */
export function noteDerivation(state: State, event: CredentialsDerived): void {
  state.accounts.get(event.account).derivations += 1;
  giveGasMoney(state, event.account);
}

/** Whoever the exchange gives something to can pay for gas, too, from the first time on. */
function giveGasMoney(state: State, account: number): void {
  const { address } = state.accounts.get(account);
  if (!state.chain.wallets.has(address)) walletIn(state.chain, address).native = GAS_MONEY;
}

/** The chain is told of shares that are given. */
function noteSets(
  state: State,
  transaction: number,
  sets: Pick<DepositContent, "market" | "size" | "yes" | "no">,
  at: Millis,
): void {
  const content: DepositContent = { kind: "deposit", at, account: 0, collateral: money(0), ...sets };
  addContent(state, transaction, content);
}

function mint(state: State, market: number, amount: Size, yes: number, no: number): void {
  credit(holdingIn(state.accounts.get(yes), market).yes, amount);
  credit(holdingIn(state.accounts.get(no), market).no, amount);
  const record = state.markets.get(market);
  changeSupply(record.supply, setsOf(market, amount));
  changeSupply(record.onChain, setsOf(market, amount));
  state.issued = money(state.issued + notional(FULL_PRICE, amount));
}
