import { type PositionChange, positionTransaction } from "../../../src/api/contracts.ts";
import type { ContractCall } from "../../../src/core/chain/transaction.ts";
import type { ExchangeConfig } from "../../../src/core/state.ts";
import { runSteps } from "../../../src/core/steps.ts";
import { money, size } from "../../../src/core/units.ts";
import type { Exchange } from "../../../src/engine/exchange.ts";
import { SessionLog } from "../../../src/engine/journal.ts";
import { type RecordedScenario, recordScenario } from "../../../src/history/record/record-session.ts";
import { RecordingError } from "../../../src/history/record/script.ts";
import { addressOf, eventCommand } from "../../support/commands.ts";
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
