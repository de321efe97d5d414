import { type PositionChange, positionTransaction } from "../../../src/api/contracts.ts";
import { CONTRACTS } from "../../../src/core/chain/contracts.ts";
import type { ContractCall } from "../../../src/core/chain/transaction.ts";
import { MONEY_PLACES, SIZE_PLACES } from "../../../src/core/format.ts";
import type { ExchangeConfig } from "../../../src/core/state.ts";
import { runSteps } from "../../../src/core/steps.ts";
import { money, size } from "../../../src/core/units.ts";
import type { Exchange } from "../../../src/engine/exchange.ts";
import { SessionLog } from "../../../src/engine/journal.ts";
import { type RecordedScenario, recordScenario } from "../../../src/history/record/record-session.ts";
import { RecordingError } from "../../../src/history/record/script.ts";
import { addressOf, eventCommand, parametersIn, unitsIn } from "../../support/commands.ts";
import { UNSETTLED } from "../../support/config.ts";
import { TestExchange } from "../../support/exchange.ts";

const TERMS = {
  seed: "floor",
  faucet: { collateral: money(100_000_000), everyMarket: size(1_000) },
} as const;

/** Settlement mode, which balances can be spent, and whether wallets must approve the exchange. */
export type Settlement = Pick<ExchangeConfig, "settlement" | "balances" | "approvals">;

/** An exchange whose session is logged. Invariants are not checked, because some tests break them. */
export class SessionExchange extends TestExchange {
  constructor(log?: SessionLog, settlement: Settlement = UNSETTLED) {
    super({ ...TERMS, ...settlement }, log);
    this.mustSubmit(eventCommand("event"));
  }

  protected override check(): void {}

  /**
   * Does also what no command of a scenario's exchange does: `alice split 5`, `alice merge 1 nonce=1`, `alice redeem`, `alice allow 5`
   * (to the exchange), `alice transfer 5` (to bob), `alice gas 7` (her native balance), `fund exchange 5` (its first account).
   */
  protected override perform(text: string, market: number): void {
    const [name = "", verb = "", amount = "0"] = text.split(" ");
    const { nonce = null } = parametersIn(text) as { readonly nonce?: number };
    const change = positionChange(verb, amount);
    const call = contractCall(verb, amount);
    if (change !== null || call !== null) {
      const { conditionId } = this.state.markets.get(1);
      const sent = positionTransaction(addressOf(name), conditionId, change ?? { kind: "redeem" });
      this.mustSubmit({ ...sent, nonce, ...(call && { gas: 500_000, call }) });
    } else if (verb === "gas") {
      this.mustSubmit({ kind: "setNativeBalance", address: addressOf(name), wei: amount });
    } else if (verb === "exchange") {
      const { address } = this.state.accounts.get(1);
      const collateral = money(unitsIn(amount, MONEY_PLACES));
      this.mustSubmit({ kind: "fundAccount", address, collateral, tokens: [], everyMarket: size(0) });
    } else {
      super.perform(text, market);
    }
  }
}

function positionChange(verb: string, amount: string): PositionChange | null {
  if (verb === "split" || verb === "merge") return { kind: verb, size: size(unitsIn(amount, SIZE_PLACES)) };
  return verb === "redeem" ? { kind: verb } : null;
}

function contractCall(verb: string, amount: string): ContractCall | null {
  if (verb === "allow") return { kind: "approve", spender: CONTRACTS.exchange, amount };
  return verb === "transfer" ? { kind: verb, to: addressOf("bob"), amount } : null;
}

export interface SessionOptions {
  readonly settlement?: Settlement;
  readonly name?: string;
  readonly devAccounts?: readonly string[];
}

/** Records the commands in a log. `open` returns an exchange in the state before them. */
export function recordLog(
  log: SessionLog,
  open: () => Exchange,
  { name = null, devAccounts = [] }: { name?: string | null; devAccounts?: readonly string[] } = {},
): RecordedScenario {
  const entries = log.entries ?? [];
  const session = { open, entries, refused: [], devAccounts: devAccounts.map(addressOf), name };
  return runSteps(recordScenario(session));
}

/** Actions on an exchange, in words or as a function. */
export type Actions = string | ((exchange: SessionExchange) => void);

export function take(exchange: SessionExchange, actions: Actions): void {
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

/** Returns the result of `record`, or why a session cannot be recorded. */
export function refusedOr<T>(record: () => T): T | string {
  try {
    return record();
  } catch (error) {
    if (error instanceof RecordingError) return error.message;
    throw error;
  }
}
