import type { Clock } from "../runtime/clock.ts";
import type { Exchange } from "../runtime/exchange.ts";
import type { Keyring } from "../runtime/keyring.ts";
import type { Numbers } from "../wire/decimals.ts";
import type { HmacKeys } from "../wire/hmac.ts";
import type { MarketRanking } from "../wire/market-ranking.ts";
import type { BookPages } from "../wire/replies/book-reply.ts";
import type { View } from "../wire/replies/view.ts";
import type { SearchIndex } from "../wire/search-index.ts";
import type { RequestLog } from "./request-log.ts";

/** A development account: anybody may know its key. */
export interface DevAccount {
  readonly address: string;
  readonly privateKey: string;
}

/** What the edge must be told about itself. */
export interface ServiceOptions {
  readonly version: string;
  readonly credentials: "rotate" | "once";
  readonly personalSign: boolean;
  /** What a caller of the control plane must show; null lets every local caller in. */
  readonly simToken: string | null;
  /** Names a Host header may carry besides loopback, lower case. */
  readonly allowHosts: readonly string[];
  /** Whether the server is reachable from other machines, so that its IP addresses are names of its own. */
  readonly beyondLoopback: boolean;
  readonly requestTimeoutMs: number;
  readonly devAccounts: readonly DevAccount[];
}

/** One exchange as HTTP serves it: everything a handler may use. */
export interface Service {
  readonly options: ServiceOptions;
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly keyring: Keyring;
  readonly hmacKeys: HmacKeys;
  readonly numbers: Numbers;
  readonly books: BookPages;
  readonly search: SearchIndex;
  readonly ranking: MarketRanking;
  readonly log: RequestLog;
  /** Opens the world anew, as at the start. */
  reopen(): void;
  /** The OpenAPI document, as JSON text. */
  openApi(): Promise<string>;
}

/** What replies are made from at this moment. */
export const viewOf = (service: Service): View => ({
  state: service.exchange.state,
  numbers: service.numbers,
});
