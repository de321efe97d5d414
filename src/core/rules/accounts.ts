import { INITIAL_NATIVE_BALANCE } from "../chain/chain.ts";
import { setsOf } from "../chain/settlement.ts";
import type { DepositContent } from "../chain/transaction.ts";
import type { CommandOf } from "../commands.ts";
import type { DomainEvent, EventOf } from "../events.ts";
import { marketOfToken, outcomeOf } from "../market.ts";
import { accepted, type Decision, refused } from "../refusals.ts";
import { emptyAccount, FAUCET, findAccount, type State } from "../state.ts";
import type { Address } from "../terms.ts";
import { FULL_PRICE, type Millis, type Money, money, notional, type Size, size } from "../units.ts";
import { backingOf, changeSupply, credit, grantMintEvents, holdingIn, issuanceLeft } from "./ledger.ts";
import { walletIn } from "./permissions.ts";
import type { RuleSet } from "./rule-set.ts";
import { addContent } from "./transactions.ts";

/**
 * Derives API credentials. The first derivation also funds the wallet, including grants in markets that it touched
 * before; it is refused if too little may still be issued.
 */
function deriveCredentials(
  state: State,
  { address }: CommandOf<"deriveCredentials">,
  _at: Millis,
  rules: RuleSet,
): Decision {
  const known = findAccount(state, address);
  const isFirst = known === undefined || known.derivations === 0;
  if (!isFirst && state.config.credentials === "once") {
    return refused({ code: "CREDENTIALS_ALREADY_DERIVED", address });
  }
  const given = isFirst ? { ...state.config.faucet, tokens: [] } : NO_FUNDS;
  const funded = fund(state, address, given, rules);
  if (!funded.ok) return funded;
  const account = known?.number ?? state.accounts.next;
  return accepted([...funded.events, { kind: "credentialsDerived", account }]);
}

/**
 * Issues USDC, and mints shares of single outcomes as full sets whose other half goes to the faucet. Shares touch their
 * market as an order does, so that the account's grant there is minted too.
 */
const fundAccount = (
  state: State,
  command: CommandOf<"fundAccount">,
  _at: Millis,
  rules: RuleSet,
): Decision => fund(state, command.address, command, rules);

type Funds = Pick<CommandOf<"fundAccount">, "collateral" | "tokens" | "everyMarket">;
const NO_FUNDS: Funds = { collateral: money(0), tokens: [], everyMarket: size(0) };

function fund(state: State, address: Address, funds: Funds, rules: RuleSet): Decision {
  const { collateral, tokens, everyMarket } = funds;
  const known = findAccount(state, address);
  const events: DomainEvent[] = [];
  const account = known?.number ?? state.accounts.next;
  if (known === undefined) events.push({ kind: "accountOpened", account, address });
  let asked: number = collateral;
  let transaction = state.chain.transactions.next;
  if (collateral > 0) {
    events.push({ kind: "collateralIssued", account, amount: collateral, transaction });
    transaction += 1;
  }
  const touched = new Set<number>();
  for (const { tokenId, size } of tokens) {
    const token = state.tokenById.get(tokenId);
    if (token === undefined) return refused({ code: "TOKEN_NOT_FOUND", tokenId });
    if (size === 0) continue;
    const market = marketOfToken(token);
    touched.add(market);
    asked += notional(FULL_PRICE, size);
    const [yes, no] = outcomeOf(token) === "YES" ? [account, FAUCET] : [FAUCET, account];
    events.push({ kind: "setsIssued", market, size, yes, no, transaction });
    transaction += 1;
  }
  if (everyMarket > 0) events.push({ kind: "grantRaised", account, size: everyMarket });
  const minted = rules.receivingTouches
    ? grantMintEvents({ number: account, known }, touched, everyMarket, transaction)
    : [];
  events.push(...minted);
  asked += backingOf(minted);
  const left = issuanceLeft(state);
  return asked > left
    ? refused({ code: "ISSUANCE_EXCEEDED", asked: asked as Money, left })
    : accepted(events);
}

/** Opens the account of a new address. */
function openAccount(state: State, event: EventOf<"accountOpened">): void {
  state.accounts.addAs(event.account, emptyAccount(event.account, event.address));
  state.accountByAddress.set(event.address, event.account);
}

/** Credits newly issued USDC. */
function issueCollateral(state: State, event: EventOf<"collateralIssued">, at: Millis): void {
  const { account, amount: collateral, transaction } = event;
  const none = { market: 0, size: size(0), yes: 0, no: 0 };
  addContent(state, transaction, { kind: "deposit", at, account, collateral, ...none });
  giveGasMoney(state, account);
  credit(state.accounts.get(event.account).collateral, event.amount);
  state.issued = money(state.issued + event.amount);
}

/** Mints full sets from newly issued USDC. */
function issueSets(
  state: State,
  { market, size, yes, no, transaction }: EventOf<"setsIssued">,
  at: Millis,
): void {
  addDeposit(state, transaction, { market, size, yes, no }, at);
  mint(state, market, size, yes, no);
}

/** Raises the account's grant in every market. */
function raiseGrant(state: State, event: EventOf<"grantRaised">): void {
  const account = state.accounts.get(event.account);
  account.everyMarket = size(account.everyMarket + event.size);
}

/** Mints the account's grant in one market. */
function mintGrant(state: State, event: EventOf<"grantMinted">, at: Millis): void {
  const holding = holdingIn(state.accounts.get(event.account), event.market);
  holding.granted = size(holding.granted + event.size);
  const { account, market, size: shares, transaction } = event;
  addDeposit(state, transaction, { market, size: shares, yes: account, no: account }, at);
  mint(state, market, shares, account, account);
}

/** Counts a derivation of credentials. */
function countDerivation(state: State, event: EventOf<"credentialsDerived">): void {
  state.accounts.get(event.account).derivations += 1;
  giveGasMoney(state, event.account);
}

/** Gives native currency for gas to a wallet that the exchange funds for the first time. */
function giveGasMoney(state: State, account: number): void {
  const { address } = state.accounts.get(account);
  if (!state.chain.wallets.has(address)) walletIn(state.chain, address).native = INITIAL_NATIVE_BALANCE;
}

/** Adds the deposit transaction of issued shares. */
function addDeposit(
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

export const accountDeciders = { fundAccount, deriveCredentials };

export const accountAppliers = {
  accountOpened: openAccount,
  collateralIssued: issueCollateral,
  setsIssued: issueSets,
  grantRaised: raiseGrant,
  grantMinted: mintGrant,
  credentialsDerived: countDerivation,
};
