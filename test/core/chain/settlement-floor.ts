import { onChainOf } from "../../../src/core/account.ts";
import { headOf } from "../../../src/core/chain/chain.ts";
import { CONTRACTS, NO_PARENT } from "../../../src/core/chain/contracts.ts";
import { tradeStatus } from "../../../src/core/chain/settlement.ts";
import {
  CERTAIN,
  type SettlementFaultKind,
  type SettlementFaultTerms,
} from "../../../src/core/chain/settlement-fault.ts";
import type { Transaction } from "../../../src/core/chain/transaction.ts";
import { type ContractCall, callGas } from "../../../src/core/chain/transaction.ts";
import type { Decision } from "../../../src/core/refusals.ts";
import { type ExchangeConfig, findAccount } from "../../../src/core/state.ts";
import type { Outcome } from "../../../src/core/terms.ts";
import { addressOf, type MarketTerms } from "../../support/commands.ts";
import { TestExchange } from "../../support/exchange.ts";

const GWEI = 1_000_000_000;
const MICROS = 1_000_000;
const SIZE_UNITS = 100;
const TOKEN_UNITS = 1_000_000;

/** What a transaction is sent with, where a test cares. */
export interface Sending {
  readonly nonce?: number;
  readonly gwei?: number;
  readonly tip?: number;
  readonly gas?: number;
  /** Wei. */
  readonly value?: bigint;
  readonly to?: string;
  /** Of a transaction that its wallet has signed. */
  readonly hash?: string;
}

/** A floor of which the settlement chain can be seen and steered, in human decimals. */
export class SettlementFloor extends TestExchange {
  /** The height of the latest block. */
  get head(): number {
    return headOf(this.state.chain);
  }

  /** How far the settlement of every trade has come, in order. */
  get statuses(): string[] {
    return [...this.state.trades].map((trade) => tradeStatus(this.state, trade));
  }

  /** Bob sells 40 YES to alice at 0.55. */
  trade(): void {
    this.send("alice BUY 40 YES @ 0.55", "bob SELL 40 YES @ 0.55");
  }

  mine(count = 1): void {
    this.demand({ kind: "mineBlocks", count });
  }

  fault(fault: SettlementFaultKind, terms: Partial<SettlementFaultTerms> = {}): void {
    this.demand({
      kind: "setSettlementFault",
      fault,
      probability: CERTAIN,
      times: fault === "gasSpike" ? null : 1,
      blocks: fault === "delay" ? 1 : 0,
      baseFee: fault === "gasSpike" ? 500 * GWEI : 0,
      reason: null,
      ...terms,
    });
  }

  reorganize(depth: number): Decision {
    return this.submit({ kind: "reorganizeChain", depth });
  }

  /** Sends a wallet's call, and answers its transaction. */
  call(name: string, call: ContractCall, sending: Sending = {}): Transaction {
    const decision = this.trySending(name, call, sending);
    if (!decision.ok) throw new Error(JSON.stringify(decision.refusal));
    const [sent] = decision.events;
    if (sent?.kind !== "transactionSent") throw new Error("nothing was sent");
    return this.state.chain.transactions.get(sent.transaction);
  }

  /** The same of one that may be refused. */
  trySending(name: string, call: ContractCall, sending: Sending = {}): Decision {
    const input = "0x";
    return this.submit({
      kind: "sendTransaction",
      from: addressOf(name),
      to: sending.to ?? CONTRACTS.conditionalTokens,
      nonce: sending.nonce ?? null,
      value: String(sending.value ?? 0n),
      gas: sending.gas ?? callGas(call, input),
      maxFeePerGas: (sending.gwei ?? 2) * GWEI,
      maxPriorityFeePerGas: (sending.tip ?? 0) * GWEI,
      input,
      call,
      raw: null,
      hash: sending.hash ?? null,
    });
  }

  split(shares: number, kind: "split" | "merge" = "split", market = 1): ContractCall {
    const amount = String(Math.round(shares * TOKEN_UNITS));
    return { kind, ...this.#position(market), partition: ["1", "2"], amount };
  }

  redeem(market = 1, indexSets: readonly string[] = ["1", "2"]): ContractCall {
    return { kind: "redeem", ...this.#position(market), indexSets };
  }

  /** What somebody holds on the chain: USDC, YES and NO. */
  onChain(name: string, market = 1): { usdc: number; yes: number; no: number } {
    const account = findAccount(this.state, addressOf(name));
    const holding = account?.holdings.get(market);
    return {
      usdc: account === undefined ? 0 : onChainOf(account.collateral) / MICROS,
      yes: holding === undefined ? 0 : onChainOf(holding.yes) / SIZE_UNITS,
      no: holding === undefined ? 0 : onChainOf(holding.no) / SIZE_UNITS,
    };
  }

  /** What the ledger says somebody has. */
  inLedger(name: string, market = 1): { usdc: number; yes: number; no: number } {
    const shares = (outcome: Outcome): number => this.shares(name, outcome, market).balance;
    return { usdc: this.usdc(name).balance, yes: shares("YES"), no: shares("NO") };
  }

  /** The transaction that settles a trade. */
  settlement(trade = 1): Transaction {
    return this.state.chain.transactions.get(this.state.trades.get(trade).transaction);
  }

  #position(market: number) {
    const { conditionId: condition } = this.state.markets.get(market);
    return { collateral: CONTRACTS.collateral, parent: NO_PARENT, condition };
  }
}

/** A market where alice has 1000 USDC, bob 500 YES, carol 1000 USDC and 500 of both; blocks only when asked for. */
export function openSettlement(
  config: Partial<Pick<ExchangeConfig, "settlement" | "balances" | "seed">> = {},
  terms: MarketTerms = {},
): SettlementFloor {
  const floor = new SettlementFloor(config);
  floor.market(terms);
  floor.fund("alice", { usdc: 1000 });
  floor.fund("bob", { yes: 500 });
  floor.fund("carol", { usdc: 1000, yes: 500, no: 500 });
  for (const name of ["alice", "bob", "carol"]) {
    floor.demand({ kind: "deriveCredentials", address: addressOf(name) });
  }
  return floor;
}

/** A transfer of USDC. */
export const transfer = (to: string, usdc: number): ContractCall => ({
  kind: "transfer",
  to: addressOf(to),
  amount: String(usdc * MICROS),
});

/** A transfer of YES. */
export const shares = (floor: SettlementFloor, from: string, to: string, yes: number): ContractCall => ({
  kind: "safeTransfer",
  from: addressOf(from),
  to: addressOf(to),
  ids: [floor.tokenId("YES")],
  amounts: [String(yes * 1_000_000)],
  isBatch: false,
});

/** What allows a contract or an account to spend so much USDC. */
export const approve = (spender: string, usdc: number | bigint): ContractCall => ({
  kind: "approve",
  spender,
  amount: String(BigInt(usdc) * BigInt(MICROS)),
});

/** Sends a call, mines it, and answers `MINED`, or why it reverted. */
export function done(
  floor: SettlementFloor,
  name: string,
  call: ContractCall,
  sending: Sending = {},
): string {
  const transaction = floor.call(name, call, sending);
  floor.mine();
  return transaction.exception?.reason ?? transaction.status;
}
