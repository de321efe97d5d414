import type { Numbers } from "../api/decimals.ts";
import type { HmacKeys } from "../api/hmac.ts";
import type { MarketRanking } from "../api/market-ranking.ts";
import type { BookPages } from "../api/replies/book-reply.ts";
import type { View } from "../api/replies/view.ts";
import type { SearchIndex } from "../api/search-index.ts";
import type { UnknownFields } from "../api/unknown-fields.ts";
import type { RefusedRequest } from "../core/refusals.ts";
import type { Clock } from "../engine/clock.ts";
import type { Exchange } from "../engine/exchange.ts";
import type { Keeper } from "../engine/journal.ts";
import type { Keyring } from "../engine/keyring.ts";
import type { Slices } from "../engine/slices.ts";
import type { Snapshots } from "../engine/snapshots.ts";
import type { Faults } from "./faults.ts";
import type { Outbox } from "./outbox.ts";
import type { RequestLog } from "./request-log.ts";

/** A development account: anybody may know its key. */
export interface DevAccount {
  readonly address: `0x${string}`;
  readonly privateKey: `0x${string}`;
}

/** What the edge must be told about itself. */
export interface ServiceOptions {
  readonly version: string;
  readonly credentials: "rotate" | "once";
  readonly personalSign: boolean;
  /** What becomes of fields that the imitated API does not know. */
  readonly unknownFields: UnknownFields;
  /** What a caller of the control plane must show; null lets every local caller in. */
  readonly simToken: string | null;
  /** Names a Host header may carry besides loopback, lower case. */
  readonly allowHosts: readonly string[];
  /** Whether the server is reachable from other machines, so that its IP addresses are names of its own. */
  readonly beyondLoopback: boolean;
  readonly requestTimeoutMs: number;
  readonly devAccounts: readonly DevAccount[];
}

/** A session as a scenario file, and how many orders and trades it tells. */
export interface RecordedSession {
  readonly name: string;
  readonly scenario: string;
  readonly orders: number;
  readonly trades: number;
}

/** One exchange as HTTP serves it: everything a handler may use. */
export interface Service {
  readonly options: ServiceOptions;
  readonly exchange: Exchange;
  readonly clock: Clock;
  /** Keeps what is answered. */
  readonly keeper: Keeper;
  readonly keyring: Keyring;
  readonly hmacKeys: HmacKeys;
  readonly numbers: Numbers;
  readonly books: BookPages;
  readonly search: SearchIndex;
  readonly ranking: MarketRanking;
  readonly snapshots: Snapshots;
  readonly faults: Faults;
  /** Where long work waits for its share of the event loop. */
  readonly slices: Slices;
  readonly outbox: Outbox;
  readonly log: RequestLog;
  /**
   * The settlement chain as a node: from the bytes of a JSON-RPC request to the text of its answer, empty when there is
   * none. Who is not trusted may not steer it.
   */
  readonly chain: (request: Buffer, isTrusted: boolean) => Promise<string>;
  /** Opens the world anew, as at the start: no snapshot is kept, no fault in force. */
  reopen(): void;
  /** Notes a refused request where the session is kept. */
  noteRefused(request: RefusedRequest): void;
  /** All that was done since the world was opened, as a scenario file. @throws ApiError when no scenario can tell it. */
  record(name: string | null): Promise<RecordedSession>;
  /** All that another machine needs to replay what was done, a JSON object a line. @throws ApiError when it is too much. */
  report(reason: string): Promise<Iterable<Uint8Array>>;
  /** Writes a report of a defect where reports are wanted. */
  reportDefect(error: unknown, reason: string): void;
  /** The OpenAPI document, as JSON text. */
  openApi(): Promise<string>;
}

/** What replies are made from at this moment. */
export const viewOf = (service: Service): View => ({
  state: service.exchange.state,
  numbers: service.numbers,
});
