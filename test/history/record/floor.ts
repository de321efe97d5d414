import { faultTerms, type SettlementFaultWords } from "../../../src/api/chain.ts";
import { type PositionChange, positionTransaction } from "../../../src/api/position-transaction.ts";
import type { ContractCall } from "../../../src/core/chain/transaction.ts";
import type { Command } from "../../../src/core/commands.ts";
import { MONEY_PLACES, SIZE_PLACES } from "../../../src/core/format.ts";
import { idOf } from "../../../src/core/ids.ts";
import { tokenIdIn } from "../../../src/core/market.ts";
import type { ExchangeConfig, State } from "../../../src/core/state.ts";
import { runSteps } from "../../../src/core/steps.ts";
import { parseDuration } from "../../../src/core/time.ts";
import { millis, money, size } from "../../../src/core/units.ts";
import { Exchange } from "../../../src/engine/exchange.ts";
import { SessionLog } from "../../../src/engine/session-log.ts";
import { type RecordedScenario, recordScenario } from "../../../src/history/record/record-session.ts";
import { RecordingError } from "../../../src/history/record/recordable-commands.ts";
import {
  addressOf,
  eventCommand,
  type MarketTerms,
  marketCommand,
  orderCommand,
  unitsIn,
} from "../../support/commands.ts";
import { UNSETTLED } from "../../support/config.ts";
import { type Funding, START } from "../../support/exchange.ts";

const TERMS = {
  seed: "floor",
  faucet: { collateral: money(100_000_000), everyMarket: size(1_000) },
  credentials: "rotate",
  ...UNSETTLED,
} as const;

/** When blocks are mined, and what can be spent. */
export type Settlement = Pick<ExchangeConfig, "settlement" | "balances">;

/** An exchange that is spoken to in sentences; nothing that is said to it may be refused. */
export class Floor {
  readonly exchange: Exchange;

  constructor(log?: SessionLog, settlement: Settlement = UNSETTLED) {
    this.exchange = new Exchange({ ...TERMS, ...settlement }, START, log);
    this.demand(eventCommand("event"));
  }

  get state(): State {
    return this.exchange.state;
  }

  demand(command: Command): void {
    const decision = this.exchange.submit(command);
    if (!decision.ok) throw new Error(`${JSON.stringify(command)}: ${JSON.stringify(decision.refusal)}`);
  }

  market(slug: string, terms: MarketTerms = {}): void {
    this.demand(marketCommand(slug, terms));
  }

  derive(name: string): void {
    this.demand({ kind: "deriveCredentials", address: addressOf(name) });
  }

  /** Gives USDC, shares of one market, and shares of every market on first touch. */
  fund(name: string, { usdc = 0, yes = 0, no = 0, everyMarket = 0 }: Funding, market = 1): void {
    const tokens = (
      [
        ["YES", yes],
        ["NO", no],
      ] as const
    ).map(([outcome, amount]) => ({
      tokenId: tokenIdIn(this.state.markets.get(market), outcome),
      size: size(unitsIn(amount, SIZE_PLACES)),
    }));
    this.demand({
      kind: "fundAccount",
      address: addressOf(name),
      collateral: money(unitsIn(usdc, MONEY_PLACES)),
      tokens: tokens.filter((token) => token.size > 0),
      everyMarket: size(unitsIn(everyMarket, SIZE_PLACES)),
    });
  }

  /** `alice BUY 10 YES @ 0.5 GTD 60s`, in a market of that number. */
  send(sentence: string, market = 1): number {
    const record = this.state.markets.get(market);
    this.demand(orderCommand(sentence, this.exchange.now, (outcome) => tokenIdIn(record, outcome)));
    return this.state.orders.size;
  }

  cancel(name: string, order: number): void {
    const orderId = idOf(this.state.idPrefixes.order, order);
    this.demand({ kind: "cancelOrder", address: addressOf(name), orderId });
  }

  mine(count = 1): void {
    this.demand({ kind: "mineBlocks", count });
  }

  fault(words: SettlementFaultWords): void {
    this.demand({ kind: "setSettlementFault", ...faultTerms(words) });
  }

  /** Sends a wallet's transaction: a change of its position in the first market, or any other call. */
  call(name: string, what: PositionChange | ContractCall, nonce: number | null = null): void {
    const { conditionId } = this.state.markets.get(1);
    const isChange = what.kind === "redeem" || "size" in what;
    const terms = positionTransaction(
      addressOf(name),
      conditionId,
      isChange ? (what as PositionChange) : REDEEM,
    );
    this.demand(
      isChange ? { ...terms, nonce } : { ...terms, nonce, gas: 500_000, call: what as ContractCall },
    );
  }

  advance(duration: string): void {
    this.exchange.advanceTo(millis(this.exchange.now + (parseDuration(duration) ?? Number.NaN)));
  }
}

const REDEEM = { kind: "redeem" } as const;

export interface SessionOptions {
  readonly settlement?: Settlement;
  readonly name?: string;
  readonly devAccounts?: readonly string[];
}

/** What is written of the session that a log has kept, which `open` opens an exchange for. */
export const writtenOf = (
  { entries }: SessionLog,
  open: () => Exchange,
  { name = null, devAccounts = [] }: { name?: string | null; devAccounts?: readonly string[] } = {},
): RecordedScenario =>
  runSteps(recordScenario({ open, entries: entries ?? [], devAccounts: devAccounts.map(addressOf), name }));

/** What is written of a session: `prepare` is what was there before, `act` is the session. */
export function recordOf(
  prepare: (floor: Floor) => void,
  act: (floor: Floor) => void,
  { settlement = UNSETTLED, ...options }: SessionOptions = {},
): RecordedScenario {
  const log = new SessionLog();
  const floor = new Floor(log, settlement);
  prepare(floor);
  log.begin();
  act(floor);
  const open = (): Exchange => {
    const fresh = new Floor(undefined, settlement);
    prepare(fresh);
    return fresh.exchange;
  };
  return writtenOf(log, open, options);
}

/** Why a session is not recorded. */
export function refusalOf(...session: Parameters<typeof recordOf>): string {
  return refusedOr(() => recordOf(...session).name);
}

/** What something comes to, or why a session is not recorded. */
export function refusedOr<T>(record: () => T): T | string {
  try {
    return record();
  } catch (error) {
    if (error instanceof RecordingError) return error.message;
    throw error;
  }
}
