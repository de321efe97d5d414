import type {
  AccountOpened,
  CollateralIssued,
  CredentialsDerived,
  GrantMinted,
  GrantRaised,
  SetsIssued,
} from "../events.ts";
import { emptyAccount, type State } from "../state.ts";
import { FULL_PRICE, money, notional, type Size, size } from "../units.ts";
import { credit, holdingIn } from "./ledger.ts";

/** Opens the account of an address that had none. */
export function openAccount(state: State, event: AccountOpened): void {
  const number = state.accounts.add(emptyAccount(event.account, event.address));
  if (number !== event.account) throw new Error(`account ${event.account} opened as number ${number}`);
  state.accountByAddress.set(event.address, number);
}

/** Credits newly issued USDC. */
export function issueCollateral(state: State, event: CollateralIssued): void {
  credit(state.accounts.get(event.account).collateral, event.amount);
  state.issued = money(state.issued + event.amount);
}

/** Mints full sets from newly issued USDC. */
export function issueSets(state: State, event: SetsIssued): void {
  mint(state, event.market, event.size, event.yes, event.no);
}

/** Raises what the account is granted in every market. */
export function raiseGrant(state: State, event: GrantRaised): void {
  const account = state.accounts.get(event.account);
  account.everyMarket = size(account.everyMarket + event.size);
}

/** Mints the account's grant in one market. */
export function mintGrant(state: State, event: GrantMinted): void {
  const holding = holdingIn(state.accounts.get(event.account), event.market);
  holding.granted = size(holding.granted + event.size);
  mint(state, event.market, event.size, event.account, event.account);
}

/** Counts a derivation of credentials. */
export function noteDerivation(state: State, event: CredentialsDerived): void {
  state.accounts.get(event.account).derivations += 1;
}

function mint(state: State, market: number, amount: Size, yes: number, no: number): void {
  credit(holdingIn(state.accounts.get(yes), market).yes, amount);
  credit(holdingIn(state.accounts.get(no), market).no, amount);
  const record = state.markets.get(market);
  record.supply = size(record.supply + amount);
  state.issued = money(state.issued + notional(FULL_PRICE, amount));
}
