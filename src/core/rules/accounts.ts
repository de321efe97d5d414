import { INITIAL_NATIVE_BALANCE } from "../chain/chain.ts";
import { setsOf } from "../chain/settlement.ts";
import type { DepositContent } from "../chain/transaction.ts";
import type { CommandOf } from "../commands.ts";
import type { DomainEvent } from "../events.ts";
import { marketOfToken, outcomeOf } from "../market.ts";
import { accepted, type Decision, refused } from "../refusals.ts";
import { emptyAccount, FAUCET, findAccount, NO_FAUCET, type State } from "../state.ts";
import { FULL_PRICE, type Millis, type Money, money, notional, size } from "../units.ts";
import { ensureWallet } from "./contract-calls.ts";
import { backingOf, changeSupply, credit, ensureHolding, grantMintEvents, issuanceLeft } from "./ledger.ts";
import type { Appliers, Deciders, RuleSet } from "./rule-set.ts";
import { addContent } from "./transactions.ts";

/**
 * Issues USDC, and mints shares of single outcomes as full sets whose other half goes to the faucet. Shares touch their
 * market as an order does, so that the account's grant there is minted too.
 */
function fundAccount(
  state: State,
  { address, collateral, tokens, everyMarket }: Omit<CommandOf<"fundAccount">, "kind">,
  rules: RuleSet,
): Decision {
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
  const minted = rules.receivingMintsGrant
    ? grantMintEvents({ number: account, known }, touched, everyMarket, transaction)
    : [];
  events.push(...minted);
  asked += backingOf(minted);
  const left = issuanceLeft(state);
  return asked > left
    ? refused({ code: "ISSUANCE_EXCEEDED", asked: asked as Money, left })
    : accepted(events);
}

export const accountDeciders = {
  fundAccount,
  /**
   * Derives API credentials. The first derivation also funds the wallet, including grants in markets that it touched
   * before; it is refused if too little may still be issued.
   */
  deriveCredentials(state, { address }, rules) {
    const known = findAccount(state, address);
    const isFirst = known === undefined || known.derivations === 0;
    if (!isFirst && state.config.credentials === "once")
      return refused({ code: "CREDENTIALS_ALREADY_DERIVED", address });
    const given = isFirst ? state.config.faucet : NO_FAUCET;
    const funded = fundAccount(state, { address, tokens: [], ...given }, rules);
    if (!funded.ok) return funded;
    const account = known?.number ?? state.accounts.next;
    return accepted([...funded.events, { kind: "credentialsDerived", account }]);
  },
} satisfies Partial<Deciders>;

const NO_DEPOSIT = { account: 0, collateral: money(0), market: 0, size: size(0), yes: 0, no: 0 };

function addDeposit(state: State, transaction: number, given: Partial<DepositContent>, at: Millis): void {
  addContent(state, transaction, { kind: "deposit", at, ...NO_DEPOSIT, ...given });
}

/** Gives native currency for gas to a wallet that the exchange funds for the first time. */
function giveGasMoney(state: State, account: number): void {
  const { address } = state.accounts.get(account);
  if (!state.chain.wallets.has(address)) ensureWallet(state.chain, address).native = INITIAL_NATIVE_BALANCE;
}

function issueSets(
  state: State,
  { market, size, yes, no, transaction }: Omit<DomainEvent<"setsIssued">, "kind">,
  at: Millis,
): void {
  addDeposit(state, transaction, { market, size, yes, no }, at);
  credit(ensureHolding(state.accounts.get(yes), market).yes, size);
  credit(ensureHolding(state.accounts.get(no), market).no, size);
  const { supply, onChain } = state.markets.get(market);
  changeSupply(supply, setsOf(market, size));
  changeSupply(onChain, setsOf(market, size));
  state.issued = money(state.issued + notional(FULL_PRICE, size));
}

export const accountAppliers = {
  accountOpened(state, { account, address }) {
    state.accounts.addAs(account, emptyAccount(account, address));
    state.accountByAddress.set(address, account);
  },
  collateralIssued(state, { account, amount, transaction }, at) {
    addDeposit(state, transaction, { account, collateral: amount }, at);
    giveGasMoney(state, account);
    credit(state.accounts.get(account).collateral, amount);
    state.issued = money(state.issued + amount);
  },
  setsIssued: issueSets,
  grantRaised(state, event) {
    const account = state.accounts.get(event.account);
    account.everyMarket = size(account.everyMarket + event.size);
  },
  grantMinted(state, { account, market, size: shares, transaction }, at) {
    const holding = ensureHolding(state.accounts.get(account), market);
    holding.granted = size(holding.granted + shares);
    issueSets(state, { market, size: shares, yes: account, no: account, transaction }, at);
  },
  credentialsDerived(state, { account }) {
    state.accounts.get(account).derivations += 1;
    giveGasMoney(state, account);
  },
} satisfies Partial<Appliers>;
