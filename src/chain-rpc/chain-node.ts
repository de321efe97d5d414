import type { Address } from "../core/commands.ts";
import type { State } from "../core/state.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Exchange } from "../runtime/exchange.ts";
import { EvmSnapshots } from "./evm-snapshots.ts";
import { Filters } from "./filters.ts";
import { Impersonation } from "./impersonation.ts";
import { answerRpc } from "./json-rpc.ts";
import { LogIndex } from "./logs/log-index.ts";
import { perform } from "./methods/all.ts";

/** What a node shows the chain of. */
export interface Host {
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly version: string;
  /** Whom it signs for, in lower case. */
  readonly accounts: readonly Address[];
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

  constructor({ exchange, clock, version, accounts }: Host, logIndex = new LogIndex()) {
    this.exchange = exchange;
    this.clock = clock;
    this.version = version;
    this.accounts = accounts;
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
    return answerRpc(request, (method, params) => perform(this, method, params, isTrusted));
  }
}
