import type { Address } from "../core/commands.ts";
import type { State } from "../core/state.ts";
import type { Clock } from "../engine/clock.ts";
import type { Exchange } from "../engine/exchange.ts";
import type { Slices } from "../engine/slices.ts";
import { EvmSnapshots } from "./evm-snapshots.ts";
import { Filters } from "./filters.ts";
import { Impersonation } from "./impersonation.ts";
import { answerRpc } from "./json-rpc.ts";
import { ChainChanged, isLazy, jsonInSteps } from "./lazy-list.ts";
import { IndexBehind, LogIndex } from "./logs/log-index.ts";
import { perform } from "./methods/all.ts";

/** What a node shows the chain of. */
export interface Host {
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly version: string;
  /** Whom it signs for, in lower case. */
  readonly accounts: readonly Address[];
  readonly slices: Slices;
}

/**
 * The settlement chain of one exchange as Ethereum's clients see it. Blocks, transactions and balances are the
 * exchange's; the node itself remembers only what it has promised to its clients.
 */
export class ChainNode {
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly version: string;
  readonly accounts: readonly Address[];
  readonly impersonation = new Impersonation();
  readonly logIndex: LogIndex;
  readonly filters: Filters;
  readonly snapshots: EvmSnapshots;
  readonly slices: Slices;

  constructor({ exchange, clock, version, accounts, slices }: Host, logIndex = new LogIndex()) {
    this.exchange = exchange;
    this.clock = clock;
    this.version = version;
    this.accounts = accounts;
    this.slices = slices;
    this.logIndex = logIndex;
    this.filters = new Filters(logIndex);
    this.snapshots = new EvmSnapshots(exchange, clock);
  }

  /** What is so at this moment; read it, never keep it. */
  get state(): State {
    return this.exchange.state;
  }

  /** The text that answers a JSON-RPC request, empty for none. Who is not trusted may read, and send what is signed. */
  answer(request: Buffer, isTrusted: boolean): Promise<string> {
    return answerRpc(request, this.slices, async (method, params) => {
      for (;;) {
        try {
          const result = await perform(this, method, params, isTrusted);
          if (!isLazy(result)) return JSON.stringify(result ?? null);
          return await this.slices.run(this.#whileSame(jsonInSteps(result)));
        } catch (error) {
          await this.#prepare(error);
        }
      }
    });
  }

  /** Does what must be done before a call is tried again. @throws the error where there is nothing to do. */
  async #prepare(error: unknown): Promise<void> {
    if (error instanceof ChainChanged) return;
    if (!(error instanceof IndexBehind)) throw error;
    try {
      await this.slices.run(this.#whileSame(this.logIndex.update(this.state)));
    } catch (changed) {
      if (!(changed instanceof ChainChanged)) throw changed;
    }
  }

  /** Steps on the state of this moment, in which blocks may go on being mined. @throws ChainChanged where it becomes another. */
  *#whileSame<T>(steps: Generator<undefined, T>): Generator<undefined, T> {
    const { state } = this;
    const { reorganizations } = state.chain;
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done) return step.value;
      yield;
      if (this.state !== state || state.chain.reorganizations !== reorganizations) throw new ChainChanged();
    }
  }
}
