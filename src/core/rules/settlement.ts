import { onChainOf } from "../account.ts";
import {
  type Building,
  baseFeeOf,
  CERTAIN,
  type Chain,
  faultDraw,
  maxFeeOf,
  type SettlementFault,
  unminedOf,
} from "../chain/chain.ts";
import { CONTRACTS } from "../chain/contracts.ts";
import { movesOf, USDC } from "../chain/settlement.ts";
import { type HoldReason, LOGS_OF_MATCH, type Move, ownGas, type Transaction } from "../chain/transaction.ts";
import type { DomainEvent } from "../events.ts";
import { accepted, refused } from "../refusals.ts";
import type { State } from "../state.ts";
import { executeCall } from "./calls.ts";
import { allowanceOf, changePermissions, ERC20, ERC1155, isOperator } from "./contract-calls.ts";
import { balanceOf } from "./ledger.ts";
import type { Appliers, Deciders, RuleSet } from "./rule-set.ts";
import {
  addOwnToBlock,
  addToBlock,
  beginExecution,
  endUnmined,
  ensureException,
  isAnyUnderpriced,
  removeFromPool,
  scheduleBlock,
  settleMoves,
  undoInLedger,
} from "./transactions.ts";
import { Unwinding, unsettled } from "./unwind.ts";

/** Number of retries after which a settlement is given up. */
const MAX_RETRIES = 5;

/** Reason of a settlement that a fault fails without a reason of its own. */
export const FAILED_ON_REQUEST = "made to fail on request";

/** Decides whether a match is mined, reverted, deferred or lost in the block being assembled. */
function settle(state: State, building: Building, transaction: Transaction, rules: RuleSet): DomainEvent[] {
  const { chain } = state;
  const deferred = deferralIfUnderpriced(chain, building, transaction);
  if (deferred !== null) return [deferred];
  const next = building.height + 1;
  const mayRetry = attemptsOf(transaction) < MAX_RETRIES;
  /** Returns the events of a settlement that is mined and reverted, including the failure of everything that depends on it. */
  const failure = (reason: string, fault: number): DomainEvent[] =>
    new Unwinding(state, rules).fail(transaction, { reason, isMined: true, fault }).events();
  const hit = chain.faults.find((each) => faultMatches(state, each, transaction));
  if (hit !== undefined) {
    const { fault, number, blocks, reason } = hit;
    if (fault === "delay") return [deferral(transaction, "DELAYED", building.height + blocks, number)];
    if (fault === "ghost")
      return [{ kind: "settlementLost", transaction: transaction.number, fault: number }];
    if (fault !== "retry") return failure(reason ?? FAILED_ON_REQUEST, number);
    if (mayRetry) return [deferral(transaction, "RETRIED", next, number)];
    return failure(`given up after ${MAX_RETRIES} attempts`, number);
  }
  const shortfall = settlementShortfall(state, transaction);
  if (shortfall === null) return [{ kind: "transactionMined", transaction: transaction.number }];
  if (shortfall.isExpected && mayRetry) return [deferral(transaction, "UNFUNDED", next, 0)];
  return failure(shortfall.reason, 0);
}

/** Returns a deferral if the base fee exceeds the exchange's maximum and the fee has not been raised; else null. */
function deferralIfUnderpriced(chain: Chain, { baseFee, height }: Building, transaction: Transaction) {
  return maxFeeOf(transaction) < baseFee
    ? deferral(transaction, "UNDERPRICED", height + 1, spikeOf(chain))
    : null;
}

const spikeOf = ({ faults }: Chain): number => faults.find(({ fault }) => fault === "gasSpike")?.number ?? 0;

const attemptsOf = ({ exception }: Transaction): number => exception?.attempts ?? 0;

const deferral = (
  { number: transaction }: Transaction,
  hold: HoldReason,
  notBefore: number,
  fault: number,
): DomainEvent => ({ kind: "transactionHeld", transaction, hold, notBefore, fault });

/** Whether a fault hits a settlement; a function of the seed, the fault, the settlement and the attempt. */
function faultMatches(state: State, fault: SettlementFault, transaction: Transaction): boolean {
  if (fault.fault === "gasSpike") return false;
  if (fault.order !== undefined && fault.order !== state.trades.get(transaction.firstTrade).taker)
    return false;
  if (fault.fault === "delay" && transaction.exception?.delayedBy === fault.number) return false;
  if (fault.probability === CERTAIN) return true;
  const drawn = faultDraw(state.config.seed, fault.number, transaction.number, attemptsOf(transaction));
  return drawn < fault.probability;
}

/**
 * Returns the first missing balance on chain or missing permission of a party; null if there is none. `isExpected`:
 * whether another pending transaction may still credit the missing funds.
 */
function settlementShortfall(state: State, transaction: Transaction) {
  const owed = new Map<string, Move>();
  for (const { account, token, amount } of movesOf(state, transaction)) {
    if (amount >= 0) continue;
    const key = `${account}/${token}`;
    owed.set(key, { account, token, amount: (owed.get(key)?.amount ?? 0) - amount });
  }
  for (const { account, token, amount } of owed.values()) {
    const owner = state.accounts.get(account);
    const { address } = owner;
    const words = token === USDC ? ERC20 : ERC1155;
    const isAllowed =
      token === USDC
        ? BigInt(amount) <= allowanceOf(state, address, CONTRACTS.exchange)
        : isOperator(state, address, CONTRACTS.exchange);
    if (!isAllowed) return { reason: `${words.notAllowed} (${address})`, isExpected: false };
    if (amount > onChainOf(balanceOf(owner, token)))
      return { reason: `${words.notOwned} (${address})`, isExpected: isExpected(state, account, token) };
  }
  return null;
}

/** Whether an unsettled transaction that may still be mined credits a token to an account. */
const isExpected = (state: State, account: number, token: number): boolean =>
  unsettled(state).some(
    (transaction) =>
      transaction.status !== "LOST" &&
      movesOf(state, transaction).some(
        (move) => move.account === account && move.token === token && move.amount > 0,
      ),
  );

/** Counts a hit of a fault, and ends the fault after its last one. */
function countFault(chain: Chain, transaction: Transaction, number: number): void {
  if (number === 0) return;
  ensureException(transaction).fault = number;
  chain.faults = chain.faults.flatMap((fault) => {
    if (fault.number !== number) return [fault];
    const struck = fault.struck + 1;
    return struck === fault.times ? [] : [{ ...fault, struck }];
  });
}

export const settlementDeciders = {
  /** Executes one transaction for the block being assembled: it is mined, reverted, deferred or lost. */
  executeTransaction(state, { transaction: number }, rules) {
    const { chain } = state;
    const transaction = chain.transactions.get(number);
    if (chain.building === null || transaction.status !== "PENDING") {
      throw new Error(`transaction ${number} cannot be executed now`);
    }
    const mined = { kind: "transactionMined", transaction: number } as const;
    switch (transaction.content?.kind) {
      case "deposit":
      case "prepare":
        return accepted([mined]);
      case "report":
        return accepted([deferralIfUnderpriced(chain, chain.building, transaction) ?? mined]);
      case "call":
        return accepted(executeCall(state, chain.building, transaction, transaction.content, rules));
      case undefined:
        return accepted(settle(state, chain.building, transaction, rules));
    }
  },
  /** Activates a fault; the first matching fault in the order of setting hits a settlement. */
  setSettlementFault: ({ chain }, { kind: _, ...terms }) =>
    accepted([{ kind: "settlementFaultSet", number: chain.faultsSet + 1, ...terms }]),
  /** Ends one fault, or all; ending all succeeds if there is none. */
  endSettlementFault({ chain }, { number }) {
    const isActive = chain.faults.some((fault) => number === null || fault.number === number);
    if (isActive) return accepted([{ kind: "settlementFaultEnded", number: number ?? 0 }]);
    return number === null ? accepted([]) : refused({ code: "FAULT_NOT_FOUND", number });
  },
  bumpFees({ chain }) {
    const transactions = unminedOf(chain)
      .filter(({ content, status, exception }) => {
        const isOwn = content === null || content.kind === "report";
        return isOwn && status === "PENDING" && !(exception?.isBumped ?? false);
      })
      .map(({ number }) => number);
    return accepted(transactions.length === 0 ? [] : [{ kind: "feesBumped", transactions }]);
  },
} satisfies Partial<Deciders>;

export const settlementAppliers = {
  transactionMined(state, event) {
    const { building, transaction } = beginExecution(state.chain, event.transaction);
    changePermissions(state, state.chain, transaction);
    if (transaction.content === null) settleMoves(state, transaction, 1);
    addOwnToBlock(state, building, transaction);
  },
  transactionHeld({ chain }, event) {
    const isFirstTime = event.transaction >= chain.firstUnprocessed;
    const { transaction } = beginExecution(chain, event.transaction);
    if (isFirstTime) chain.deferred.push(event.transaction);
    const exception = ensureException(transaction);
    exception.hold = event.hold;
    exception.notBefore = event.notBefore;
    if (event.hold === "UNFUNDED" || event.hold === "RETRIED") exception.attempts += 1;
    if (event.hold === "DELAYED") exception.delayedBy = event.fault;
    if (event.hold !== "UNDERPRICED") countFault(chain, transaction, event.fault);
  },
  /** Ends a settlement that will never be mined: its trades stay in the ledger. */
  settlementLost({ chain }, event, at) {
    const { transaction } = beginExecution(chain, event.transaction);
    endUnmined(chain, transaction, "LOST", at).reason = "it was never mined";
    chain.lost.push(event.transaction);
    countFault(chain, transaction, event.fault);
  },
  settlementFailed(state, event, at) {
    const { chain } = state;
    const transaction = chain.transactions.get(event.transaction);
    const exception = ensureException(transaction);
    exception.reason = event.reason;
    exception.endedAt = at;
    undoInLedger(state, transaction);
    if (event.isMined) {
      const { building } = beginExecution(chain, event.transaction);
      transaction.status = "REVERTED";
      addToBlock(chain, building, transaction, 0, ownGas(LOGS_OF_MATCH));
    } else {
      if (transaction.status === "PENDING") removeFromPool(chain, transaction);
      else chain.lost = chain.lost.filter((number) => number !== event.transaction);
      transaction.status = "FAILED";
      exception.hold = null;
    }
    countFault(chain, transaction, event.fault);
  },
  settlementFaultSet({ chain }, { kind: _, ...fault }) {
    chain.faults = [...chain.faults, { ...fault, struck: 0 }];
    chain.faultsSet = fault.number;
  },
  /** Ends faults; schedules a block if a lower base fee may admit underpriced transactions. */
  settlementFaultEnded(state, { number }, at) {
    const { chain, config } = state;
    const before = baseFeeOf(chain);
    chain.faults = number === 0 ? [] : chain.faults.filter((fault) => fault.number !== number);
    if (baseFeeOf(chain) < before && isAnyUnderpriced(chain)) scheduleBlock(chain, config, at);
  },
  feesBumped(state, { transactions }, at) {
    for (const number of transactions) ensureException(state.chain.transactions.get(number)).isBumped = true;
    scheduleBlock(state.chain, state.config, at);
  },
} satisfies Partial<Appliers>;
