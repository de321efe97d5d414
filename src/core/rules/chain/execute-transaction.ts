import { onChainOf } from "../../account.ts";
import { type Building, type Chain, OPERATOR_MAX_FEE } from "../../chain/chain.ts";
import type { ExecuteTransaction } from "../../chain/chain-commands.ts";
import { chanceOf } from "../../chain/chance.ts";
import { CONTRACTS } from "../../chain/contracts.ts";
import { movesOf, USDC } from "../../chain/moves.ts";
import { allowanceOf, isOperator } from "../../chain/permissions.ts";
import { CERTAIN, type SettlementFault } from "../../chain/settlement-fault.ts";
import type { HoldReason, Transaction } from "../../chain/transaction.ts";
import { accepted, type Decision } from "../../decision.ts";
import type { DomainEvent } from "../../events.ts";
import { marketOfToken, outcomeOf } from "../../market.ts";
import type { State } from "../../state.ts";
import { sharesIn } from "../ledger.ts";
import type { RuleSet } from "../rule-set.ts";
import { executeCall } from "./execute-sent.ts";
import { Unwinding, unsettled } from "./unwind.ts";

/** How often a settlement is put off before it is given up. */
const MOST_ATTEMPTS = 5;

/** Looks at one transaction for the block that is being put together: it is mined, reverts, is put off or is lost. */
export function executeTransaction(
  state: State,
  { transaction: number }: ExecuteTransaction,
  rules: RuleSet,
): Decision {
  const { chain } = state;
  const transaction = chain.transactions.get(number);
  if (chain.building === null || transaction.status !== "PENDING") {
    throw new Error(`transaction ${number} cannot be executed now`);
  }
  switch (transaction.content?.kind) {
    case "deposit":
    case "prepare":
      return accepted([{ kind: "transactionMined", transaction: number }]);
    case "report":
      return accepted([
        whatKeepsOut(chain, chain.building, transaction) ?? { kind: "transactionMined", transaction: number },
      ]);
    case "call":
      return accepted(executeCall(state, chain.building, transaction, transaction.content, rules));
    case undefined:
      return accepted(settle(state, chain.building, transaction));
  }
}

function settle(state: State, building: Building, transaction: Transaction): DomainEvent[] {
  const { chain } = state;
  const kept = whatKeepsOut(chain, building, transaction);
  if (kept !== null) return [kept];
  const fault = chain.faults.find((each) => strikes(state, each, transaction));
  if (fault !== undefined) return befall(state, building, transaction, fault);
  const lack = lackOf(state, transaction);
  if (lack === null) return [{ kind: "transactionMined", transaction: transaction.number }];
  if (lack.isExpected && attemptsOf(transaction) < MOST_ATTEMPTS) {
    return [held(transaction, "UNFUNDED", building.height + 1, 0)];
  }
  return failing(state, transaction, lack.reason, 0);
}

/** The exchange offers its own transactions so much and no more, until somebody raises their fees. */
function whatKeepsOut(
  chain: Chain,
  { baseFee, height }: Building,
  transaction: Transaction,
): DomainEvent | null {
  const isBumped = transaction.oddity?.isBumped ?? false;
  return baseFee > OPERATOR_MAX_FEE && !isBumped
    ? held(transaction, "UNDERPRICED", height + 1, spikeOf(chain))
    : null;
}

const spikeOf = ({ faults }: Chain): number => faults.find(({ fault }) => fault === "gasSpike")?.number ?? 0;

const attemptsOf = ({ oddity }: Transaction): number => oddity?.attempts ?? 0;

const held = ({ number }: Transaction, hold: HoldReason, notBefore: number, fault: number): DomainEvent => ({
  kind: "transactionHeld",
  transaction: number,
  hold,
  notBefore,
  fault,
});

/** Whether a fault befalls a settlement now: a function of the seed, the fault, the settlement and the attempt. */
function strikes(state: State, fault: SettlementFault, transaction: Transaction): boolean {
  if (fault.fault === "gasSpike") return false;
  if (fault.fault === "delay" && transaction.oddity?.delayedBy === fault.number) return false;
  if (fault.probability === CERTAIN) return true;
  const drawn = chanceOf(state.config.seed, fault.number, transaction.number, attemptsOf(transaction));
  return drawn < fault.probability;
}

function befall(
  state: State,
  building: Building,
  transaction: Transaction,
  { fault, number, blocks, reason }: SettlementFault,
): DomainEvent[] {
  switch (fault) {
    case "delay":
      return [held(transaction, "DELAYED", building.height + blocks, number)];
    case "ghost":
      return [{ kind: "settlementLost", transaction: transaction.number, fault: number }];
    case "retry":
      if (attemptsOf(transaction) < MOST_ATTEMPTS) {
        return [held(transaction, "RETRIED", building.height + 1, number)];
      }
      return failing(state, transaction, `given up after ${MOST_ATTEMPTS} attempts`, number);
    default:
      return failing(state, transaction, reason ?? "made to fail on request", number);
  }
}

/** It is mined and reverts: the ledger takes it back, and with it what cannot stand without. */
function failing(state: State, transaction: Transaction, reason: string, fault: number): DomainEvent[] {
  const unwinding = new Unwinding(state);
  unwinding.fail(transaction, { reason, isMined: true, fault });
  return unwinding.events();
}

/** What keeps a settlement from being carried out on the chain. */
interface Lack {
  readonly reason: string;
  /** Whether something else that is pending may yet bring it. */
  readonly isExpected: boolean;
}

/** Whether every party has on the chain what it pays with, and lets the exchange move it; null when all do. */
function lackOf(state: State, transaction: Transaction): Lack | null {
  const owed = new Map<string, { account: number; token: number; amount: number }>();
  for (const { account, token, amount } of movesOf(state, transaction)) {
    if (amount >= 0) continue;
    const key = `${account}/${token}`;
    const before = owed.get(key)?.amount ?? 0;
    owed.set(key, { account, token, amount: before - amount });
  }
  for (const { account, token, amount } of owed.values()) {
    const refusal = refusalOf(state, account, token, amount);
    if (refusal !== null) return refusal;
  }
  return null;
}

function refusalOf(state: State, account: number, token: number, amount: number): Lack | null {
  const { address, collateral, holdings } = state.accounts.get(account);
  const isMoney = token === USDC;
  const isAllowed = isMoney
    ? BigInt(amount) <= allowanceOf(state.chain, address, CONTRACTS.exchange)
    : isOperator(state.chain, address, CONTRACTS.exchange);
  if (!isAllowed) {
    const reason = isMoney
      ? "ERC20: transfer amount exceeds allowance"
      : "ERC1155: need operator approval for 3rd party transfers.";
    return { reason: `${reason} (${address})`, isExpected: false };
  }
  const holding = holdings.get(marketOfToken(token));
  const has = isMoney
    ? onChainOf(collateral)
    : holding === undefined
      ? 0
      : onChainOf(sharesIn(holding, outcomeOf(token)));
  if (amount <= has) return null;
  const reason = isMoney
    ? "ERC20: transfer amount exceeds balance"
    : "ERC1155: insufficient balance for transfer";
  return { reason: `${reason} (${address})`, isExpected: isExpected(state, account, token) };
}

/** Whether a pending settlement that may yet be mined brings an account some of an asset. */
function isExpected(state: State, account: number, token: number): boolean {
  for (const transaction of unsettled(state)) {
    if (transaction.status === "LOST") continue;
    const brings = movesOf(state, transaction).some(
      (move) => move.account === account && move.token === token && move.amount > 0,
    );
    if (brings) return true;
  }
  return false;
}
