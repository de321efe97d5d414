import { faultTerms, type SettlementFaultWords } from "../../../src/api/chain.ts";
import { type PositionChange, positionTransaction } from "../../../src/api/contracts.ts";
import type { ContractCall } from "../../../src/core/chain/transaction.ts";
import type { CommandOf } from "../../../src/core/commands.ts";
import type { ExchangeConfig } from "../../../src/core/state.ts";
import { runSteps } from "../../../src/core/steps.ts";
import { money, size } from "../../../src/core/units.ts";
import type { Exchange } from "../../../src/engine/exchange.ts";
import { SessionLog } from "../../../src/engine/journal.ts";
import { type RecordedScenario, recordScenario } from "../../../src/history/record/record-session.ts";
import { RecordingError } from "../../../src/history/record/script.ts";
import { addressOf, eventCommand, marketCommand } from "../../support/commands.ts";
import { UNSETTLED } from "../../support/config.ts";
import { TestExchange } from "../../support/exchange.ts";

const TERMS = {
  seed: "floor",
  faucet: { collateral: money(100_000_000), everyMarket: size(1_000) },
} as const;

/** Settlement mode, and which balances can be spent. */
export type Settlement = Pick<ExchangeConfig, "settlement" | "balances">;

/** An exchange whose session is logged. Invariants are not checked, because some tests break them. */
export class SessionExchange extends TestExchange {
  constructor(log?: SessionLog, settlement: Settlement = UNSETTLED) {
    super({ ...TERMS, ...settlement }, log);
    this.mustSubmit(eventCommand("event"));
  }

  protected override check(): void {}

  /**
   * Does what words say, separated by semicolons: `market rain feeRateBps=100; fund alice usdc=5 in 2; advance 1s`, or an
   * order, which must be accepted, in a market: `alice BUY 1 YES @ 0.5 in 2`. Returns the number of the last order.
   */
  act(words: string): number {
    for (const each of words.split(";")) {
      const [text = "", market = "1"] = each.trim().split(/ in (?=\d+$)/);
      this.#act(text, Number(market));
    }
    return this.state.orders.size;
  }

  #act(text: string, market: number): void {
    const [verb = "", ...rest] = text.split(" ");
    const [first = "1"] = rest;
    const terms = Object.fromEntries(
      [...text.matchAll(/(\w+)=("[^"]*"|\S+)/g)].map(([, name, value = ""]) => [name, JSON.parse(value)]),
    );
    if (verb === "market") this.mustSubmit(marketCommand(first, terms));
    else if (verb === "derive")
      for (const name of rest) this.mustSubmit({ kind: "deriveCredentials", address: addressOf(name) });
    else if (verb === "fund") this.fund(first, terms, market);
    else if (verb === "trade")
      for (let count = 0; count < Number(first); count += 1)
        this.act("alice BUY 1 YES @ 0.5; bob SELL 1 YES @ 0.5");
    else if (verb === "mine") this.mustSubmit({ kind: "mineBlocks", count: Number(first) });
    else if (verb === "reorg") this.mustSubmit({ kind: "reorganizeChain", depth: Number(first) });
    else if (verb === "advance") this.advance(first);
    else if (verb === "bump") this.mustSubmit({ kind: "bumpFees" });
    else if (verb === "fault") {
      const fault = { kind: first, ...terms } as SettlementFaultWords;
      this.mustSubmit({ kind: "setSettlementFault", ...faultTerms(fault) });
    } else if (verb === "end")
      this.mustSubmit({ kind: "endSettlementFault", number: first === "all" ? null : Number(first) });
    else if (verb === "close") this.mustSubmit({ kind: "closeMarket", market });
    else if (verb === "resolve")
      this.mustSubmit({
        kind: "resolveMarket",
        market,
        winningOutcome: first as CommandOf<"resolveMarket">["winningOutcome"],
      });
    else if (first === "cancel") this.cancel(verb, Number(rest[1]));
    else this.mustSubmit(this.command(text, market));
  }

  /** Sends a wallet's transaction: a change of its position in the first market, or another call. */
  call(name: string, call: PositionChange | ContractCall, nonce: number | null = null): void {
    const { conditionId } = this.state.markets.get(1);
    const isChange = call.kind === "redeem" || "size" in call;
    const change = isChange ? (call as PositionChange) : REDEEM;
    const transaction = { ...positionTransaction(addressOf(name), conditionId, change), nonce };
    this.mustSubmit(isChange ? transaction : { ...transaction, gas: 500_000, call: call as ContractCall });
  }
}

const REDEEM = { kind: "redeem" } as const;

export interface SessionOptions {
  readonly settlement?: Settlement;
  readonly name?: string;
  readonly devAccounts?: readonly string[];
}

/** Records the session in a log. `open` returns an exchange in the state before it. */
export const recordLog = (
  { entries }: SessionLog,
  open: () => Exchange,
  { name = null, devAccounts = [] }: { name?: string | null; devAccounts?: readonly string[] } = {},
): RecordedScenario =>
  runSteps(recordScenario({ open, entries: entries ?? [], devAccounts: devAccounts.map(addressOf), name }));

/** Actions on an exchange, in words or as a function. */
type Actions = string | ((exchange: SessionExchange) => void);

function take(exchange: SessionExchange, actions: Actions): void {
  if (typeof actions === "function") actions(exchange);
  else if (actions !== "") exchange.act(actions);
}

/** Records the session of `act`, which begins after `prepare`. */
export function recordOf(
  prepare: Actions,
  act: Actions,
  { settlement = UNSETTLED, ...options }: SessionOptions = {},
): RecordedScenario {
  const log = new SessionLog();
  const exchange = new SessionExchange(log, settlement);
  take(exchange, prepare);
  log.begin();
  take(exchange, act);
  const open = (): Exchange => {
    const fresh = new SessionExchange(undefined, settlement);
    take(fresh, prepare);
    return fresh.exchange;
  };
  return recordLog(log, open, options);
}

/** Returns why a session cannot be recorded. */
export function refusalOf(...session: Parameters<typeof recordOf>): string {
  return refusedOr(() => recordOf(...session).name);
}

/** Returns the result of `record`, or why a session cannot be recorded. */
export function refusedOr<T>(record: () => T): T | string {
  try {
    return record();
  } catch (error) {
    if (error instanceof RecordingError) return error.message;
    throw error;
  }
}
