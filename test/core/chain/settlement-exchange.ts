import { onChainOf } from "../../../src/core/account.ts";
import { headOf } from "../../../src/core/chain/chain.ts";
import { CONTRACTS, NO_PARENT } from "../../../src/core/chain/contracts.ts";
import { settledAt, tradeStatus } from "../../../src/core/chain/settlement.ts";
import type { ContractCall, Transaction } from "../../../src/core/chain/transaction.ts";
import type { CommandOf } from "../../../src/core/commands.ts";
import type { Decision } from "../../../src/core/refusals.ts";
import { type ExchangeConfig, findAccount } from "../../../src/core/state.ts";
import type { BalancePolicy, Outcome, SettlementMode } from "../../../src/core/terms.ts";
import { addressOf, callCommand, parametersIn } from "../../support/commands.ts";
import { START, TestExchange } from "../../support/exchange.ts";

const GWEI = 1_000_000_000;
const MICROS = 1_000_000;
const SIZE_UNITS = 100;
const TOKEN_UNITS = 1_000_000;

/** Fields of a transaction that differ from the defaults; its fees in gwei. */
export interface Sending extends Partial<CommandOf<"sendTransaction">> {
  readonly gwei?: number;
  readonly tip?: number;
}

/** Test exchange with access to the settlement chain, in decimals. */
export class SettlementExchange extends TestExchange {
  /** The height of the latest block. */
  get head(): number {
    return headOf(this.state.chain);
  }

  /** Returns the native currency of a wallet, in wei. */
  native(name: string): bigint {
    return this.state.chain.wallets.get(addressOf(name))?.native ?? 0n;
  }

  /** Settlement status of every trade, in order. */
  get statuses(): string[] {
    return [...this.state.trades].map((trade) => tradeStatus(this.state, trade));
  }

  /** The settlement status of every trade, then the status of every wallet's call, and the height. */
  get chainStatus(): string {
    const calls = [...this.state.chain.transactions].flatMap(({ content, status, exception }) =>
      content?.kind === "call" ? [exception?.hold ? `${status} ${exception.hold}` : status] : [],
    );
    return [...this.statuses, ...calls, `at ${this.head}`].join(" ");
  }

  /** Bob sells 40 YES to alice at 0.55. */
  override trade(): void {
    this.send("alice BUY 40 YES @ 0.55", "bob SELL 40 YES @ 0.55");
  }

  /** Also reads a transfer of USDC, `pay alice bob 1 nonce=1 gwei=2`, other calls, and `drop 2`, the second call. */
  protected override perform(text: string, market: number): void {
    const [verb, from = "", to = "", usdc] = text.split(" ");
    if (verb === "pay") this.call(from, transfer(to, Number(usdc)), parametersIn(text));
    else if (verb === "split" || verb === "merge") this.call(from, this.split(Number(to), verb));
    else if (verb === "redeem") this.call(from, this.redeem(to));
    else if (verb === "drop") {
      const calls = [...this.state.chain.transactions].filter(({ content }) => content?.kind === "call");
      this.mustSubmit({ kind: "dropTransaction", transaction: calls[Number(from) - 1]?.number ?? 0 });
    } else super.perform(text, market);
  }

  /** Describes the USDC, YES and NO of an account in the ledger and, if they differ, on the chain: `alice 900 5 0`. */
  funds(name: string): string {
    const [ledger, chain] = [this.inLedger(name), this.onChain(name)].map((of) =>
      Object.values(of).join(" "),
    );
    return `${name} ${ledger}${ledger === chain ? "" : ` (${chain} on chain)`}`;
  }

  /**
   * Does parts of a history, separated by ` > `. Returns the chain status after each, and what the part asks for after ` ? `:
   * the funds of an account, an order such as `#3`, the settlement time of a trade such as `@1`, in seconds. Calls `check`
   * after each.
   */
  story(words: string, check: () => void = () => {}): string {
    const parts = words.split(" > ").map((part) => {
      const [actions = "", asked] = part.split(" ? ");
      this.act(actions);
      check();
      const answers = (asked?.split(" ") ?? []).map((each) => this.#answer(each));
      return [this.chainStatus, ...answers].join(", ");
    });
    return parts.join(" > ");
  }

  #answer(asked: string): string {
    const number = Number(asked.slice(1));
    if (asked.startsWith("#")) return `${asked} ${this.order(number)}`;
    if (!asked.startsWith("@")) return this.funds(asked);
    return `${asked} ${(settledAt(this.state, this.state.trades.get(number)) - START) / 1000}`;
  }

  /** Sends a wallet's call; returns its transaction. @throws Error if it is refused. */
  call(name: string, call: ContractCall, sending: Sending = {}): Transaction {
    const decision = this.trySend(name, call, sending);
    if (!decision.ok) throw new Error(JSON.stringify(decision.refusal));
    const [sent] = decision.events;
    if (sent?.kind !== "transactionSent") throw new Error("no transaction was sent");
    return this.state.chain.transactions.get(sent.transaction);
  }

  /** Sends a call that may be refused. */
  trySend(name: string, call: ContractCall, { gwei = 2, tip = 0, ...terms }: Sending = {}): Decision {
    const fees = { maxFeePerGas: gwei * GWEI, maxPriorityFeePerGas: tip * GWEI };
    return this.submit(callCommand(addressOf(name), call, { ...fees, ...terms }));
  }

  split(shares: number, kind: "split" | "merge" = "split"): ContractCall {
    const amount = String(Math.round(shares * TOKEN_UNITS));
    return { kind, ...this.#position(), partition: ["1", "2"], amount };
  }

  redeem(...indexSets: readonly string[]): ContractCall {
    return { kind: "redeem", ...this.#position(), indexSets };
  }

  /** Returns the balances of an account on chain: USDC, YES and NO. */
  onChain(name: string, market = 1): { usdc: number; yes: number; no: number } {
    const account = findAccount(this.state, addressOf(name));
    const holding = account?.holdings.get(market);
    return {
      usdc: account === undefined ? 0 : onChainOf(account.collateral) / MICROS,
      yes: holding === undefined ? 0 : onChainOf(holding.yes) / SIZE_UNITS,
      no: holding === undefined ? 0 : onChainOf(holding.no) / SIZE_UNITS,
    };
  }

  /** Returns the balances of an account in the ledger. */
  inLedger(name: string, market = 1): { usdc: number; yes: number; no: number } {
    const shares = (outcome: Outcome): number => this.shares(name, outcome, market).balance;
    return { usdc: this.usdc(name).balance, yes: shares("YES"), no: shares("NO") };
  }

  /** Returns the transaction that settles a trade. */
  settlement(trade = 1): Transaction {
    return this.state.chain.transactions.get(this.state.trades.get(trade).transaction);
  }

  #position() {
    const { conditionId: condition } = this.state.markets.get(1);
    return { collateral: CONTRACTS.collateral, parent: NO_PARENT, condition };
  }
}

/** Opens a market; alice has 1000 USDC, bob 500 YES, carol 1000 USDC and 500 of both; blocks are mined on request. */
export function openSettlement(
  config: Partial<Pick<ExchangeConfig, "settlement" | "balances" | "seed">> = {},
): SettlementExchange {
  const exchange = new SettlementExchange(config);
  exchange.market();
  exchange.fund("alice", { usdc: 1000 });
  exchange.fund("bob", { yes: 500 });
  exchange.fund("carol", { usdc: 1000, yes: 500, no: 500 });
  exchange.act("derive alice bob carol");
  return exchange;
}

/** The configuration with a settlement mode, and with balances if they are named: `manual settled`. */
export function settlementIn(words: string): Pick<ExchangeConfig, "settlement" | "balances"> {
  const [settlement, balances = "optimistic"] = words.split(" ");
  return { settlement: settlement as SettlementMode, balances: balances as BalancePolicy };
}

/** Opens an exchange like `openSettlement`, and does what words say. */
export function played(words: string, config?: Parameters<typeof openSettlement>[0]): SettlementExchange {
  const exchange = openSettlement(config);
  exchange.act(words);
  return exchange;
}

/** A transfer of USDC. */
export const transfer = (to: string, usdc: number): ContractCall => ({
  kind: "transfer",
  to: addressOf(to),
  amount: String(usdc * MICROS),
});

/** A transfer of YES. */
export const shares = (
  exchange: SettlementExchange,
  from: string,
  to: string,
  yes: number,
): ContractCall => ({
  kind: "safeTransfer",
  from: addressOf(from),
  to: addressOf(to),
  ids: [exchange.tokenId("YES")],
  amounts: [String(yes * 1_000_000)],
  isBatch: false,
});

/** An allowance of USDC for a spender. */
export const approve = (spender: string, usdc: number | bigint): ContractCall => ({
  kind: "approve",
  spender,
  amount: String(BigInt(usdc) * BigInt(MICROS)),
});

/** Sends a call and mines it; returns `MINED`, or why it reverted. */
export function mineCall(
  exchange: SettlementExchange,
  name: string,
  call: ContractCall,
  sending: Sending = {},
): string {
  const transaction = exchange.call(name, call, sending);
  exchange.act("mine");
  return transaction.exception?.reason ?? transaction.status;
}
