import { IncomingMessage, ServerResponse } from "node:http";
import { CHAIN_PATH, type NotificationSink } from "../api/chain-rpc.ts";
import type { Numbers } from "../api/decimals.ts";
import type { BodySpec, Params, RawBody, Read } from "../api/endpoint.ts";
import type { EndpointOf, Operation, ReplyTo } from "../api/endpoints.ts";
import type { MarketRanking, SearchIndex } from "../api/market-search.ts";
import type { BookPages } from "../api/order-book.ts";
import type { UnknownFields } from "../api/request-body.ts";
import type { HmacKeys } from "../api/signing.ts";
import type { Checksums, View } from "../api/view.ts";
import type { Bots } from "../bots/bots.ts";
import type { RefusedRequest } from "../core/refusals.ts";
import type { Address } from "../core/terms.ts";
import type { Clock, Slices, Snapshots } from "../engine/clock.ts";
import type { Exchange } from "../engine/exchange.ts";
import type { Persistence } from "../engine/journal.ts";
import type { Keyring } from "../engine/keyring.ts";
import type { Outbox } from "./connection.ts";
import type { AppliedFault, Faults } from "./faults.ts";
import type { RequestLog } from "./request-log.ts";

/** An HTTP request with what the server records about it. */
export class Incoming extends IncomingMessage {
  declare asksForUpgrade: boolean;
  declare url: string;
  declare method: string;
  /** `performance.now()` at arrival. */
  arrivedAt = 0;
  requestId = "";
  /** Address whose credentials signed the request; empty until the signature is verified. */
  caller = "";
  /** Warnings for the client, such as unknown fields, as the response header `x-sim-warning` carries them. */
  warning = "";
  /** Bytes of a body that the handler parses itself; null until they have arrived. */
  rawBody: Buffer | null = null;
  fault: AppliedFault | null = null;
  /** Sequence of the first command that the request may have caused, and of the latest command when its answer was made. */
  firstCommand = Number.POSITIVE_INFINITY;
  lastCommand = 0;

  /**
   * Whether Node emits "upgrade" or "connect" instead of "request": true only for CONNECT and a WebSocket to the chain.
   * Requests to upgrade to any other protocol are served as plain HTTP, as HTTP allows.
   */
  get upgrade(): boolean {
    if (!this.asksForUpgrade) return false;
    const { method, headers } = this;
    if (method !== "GET") return method === "CONNECT";
    return isWebSocket(headers.upgrade) && this.isToChain;
  }

  set upgrade(asked: boolean) {
    this.asksForUpgrade = asked;
  }

  protected get isToChain(): boolean {
    return pathOf(this.url) === CHAIN_PATH;
  }
}

/** What logs, error bodies and the live feed need of a request, which is an HTTP request or a WebSocket message. */
export type RequestInfo = Pick<
  Incoming,
  | "method"
  | "url"
  | "requestId"
  | "arrivedAt"
  | "caller"
  | "rawBody"
  | "fault"
  | "firstCommand"
  | "lastCommand"
>;

const isWebSocket = (protocol: string | undefined): boolean => protocol?.toLowerCase() === "websocket";

export function pathOf(target: string): string {
  const query = target.indexOf("?");
  return query < 0 ? target : target.slice(0, query);
}

/** A response without a Date header, because a frozen exchange must answer the same bytes each time. */
export class Outgoing extends ServerResponse {
  constructor(request: IncomingMessage, options?: object) {
    // Node passes the server's options as a second argument, which its published types do not declare.
    super(...([request, options] as unknown as [IncomingMessage]));
    this.sendDate = false;
  }
}

/** A development account, whose private key is public. */
export interface DevWallet {
  readonly address: `0x${string}`;
  readonly privateKey: `0x${string}`;
}

export interface ServiceOptions {
  readonly version: string;
  /** Path prefix of the exchange: `/3` for the third exchange of a pool, otherwise empty. */
  readonly prefix: string;
  readonly personalSign: boolean;
  readonly unknownFields: UnknownFields;
  /** Token that the control plane requires; null admits every local caller. */
  readonly simToken: string | null;
  /** Host names accepted besides loopback, in lower case. */
  readonly allowHosts: readonly string[];
  /** Whether the server is reachable from other machines. If so, any IP address is accepted as Host. */
  readonly beyondLoopback: boolean;
  readonly requestTimeoutMs: number;
  readonly devAccounts: readonly DevWallet[];
}

/** A session as a scenario file, with its numbers of orders and trades. */
type RecordedSession = ReplyTo<"recordScenario">;

interface ChainCalls {
  /** Answers a JSON-RPC request; an empty text means no reply. Only trusted callers may control the chain. */
  answer(request: Buffer, isTrusted: boolean): Promise<string>;
}

export interface Chain extends ChainCalls {
  /** Adds a client with a connection of its own; notifications of its subscriptions go to `sink`. */
  connect(sink: NotificationSink): Promise<ChainClient>;
}

export interface ChainClient extends ChainCalls {
  /** Sends pending notifications while the sink has room. */
  sendPending(): void;
  close(): void;
}

/** Position at which a reader of the live feed starts. */
export interface StreamStart {
  readonly from: "start" | "now";
  /** Id of the entry after which to continue; if null, `from` applies. */
  readonly since: string | null;
}

/** Live feed of the commands, requests and clock changes of one exchange. */
export interface LiveFeed {
  /** Opens an endless stream of entries for a new reader. @throws ApiError if there are too many readers. */
  open(beginning: StreamStart): StreamedAnswer;
  /** Called after each refused request. */
  refused(request: RefusedRequest): void;
  /** Called after each answered request; `status` is 0 if its connection was closed without an answer. */
  answered(request: RequestInfo, status: number, code: string | undefined): void;
  /** Ends the streams of all readers and admits no new ones. */
  close(): void;
}

export interface RootPage {
  answer(service: Service, request: Incoming, response: Outgoing): Promise<void>;
}

/** Everything that handlers may use of one exchange. */
export interface Service {
  readonly options: ServiceOptions;
  readonly exchange: Exchange;
  readonly clock: Clock;
  /** Flushes the journal before an answer is sent. */
  readonly persistence: Persistence;
  readonly keyring: Keyring;
  readonly hmacKeys: HmacKeys;
  readonly numbers: Numbers;
  readonly checksums: Checksums;
  readonly books: BookPages;
  readonly search: SearchIndex;
  readonly ranking: MarketRanking;
  readonly snapshots: Snapshots;
  readonly faults: Faults;
  readonly bots: Bots;
  /** Time slices of the event loop for long work. */
  readonly slices: Slices;
  readonly outbox: Outbox;
  readonly log: RequestLog;
  readonly chain: Chain;
  readonly stream: LiveFeed;
  readonly page: RootPage;
  /** Resets the exchange to its starting world and removes all snapshots and faults. */
  reopen(): void;
  /** Records a refused request in the session. */
  noteRefused(request: RefusedRequest): void;
  /** Returns the session since the world was opened as a scenario file. @throws ApiError if no scenario can express it. */
  record(name: string | null): Promise<RecordedSession>;
  /** Returns a bug report that can be replayed elsewhere, as JSON lines. @throws ApiError if it is too large. */
  report(reason: string): Promise<Iterable<Uint8Array>>;
  /** Writes a bug report for a defect if reports are enabled. */
  reportDefect(error: unknown, reason: string): void;
  openApi(): Promise<string>;
}

/** Returns the current state in the form from which replies are built. */
export const viewOf = ({
  exchange,
  numbers,
  checksums,
}: Pick<Service, "exchange" | "numbers" | "checksums">): View => ({
  state: exchange.state,
  numbers,
  checksums,
});

type QueryOf<E> = E extends { readonly query: infer Q extends Params } ? Read<Q> : never;
/** Type of an endpoint's parsed body. */
export type BodyOf<E> = E extends { readonly body: BodySpec<infer Body> }
  ? Body
  : E extends { readonly body: RawBody }
    ? Buffer
    : null;

type PathOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [Key in Name]: string } & PathOf<Rest>
  : unknown;

/** A request as a handler receives it: parsed, validated and, for a signed endpoint, authenticated. */
export interface Call<Query, Body, Path = Readonly<Record<string, string>>> {
  readonly query: Query;
  readonly body: Body;
  readonly path: Path;
  /** The caller's address; empty unless the endpoint is signed. */
  readonly caller: Address;
  readonly headers: Readonly<Record<string, string | string[] | undefined>> & {
    readonly host?: string | undefined;
  };
  readonly rawHeaders: readonly string[];
}

export const JSON_MEDIA = "application/json; charset=utf-8";

/** A reply that is already JSON text. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** An answer that is produced while it is sent, so that only a part of it is in memory at a time. */
export class StreamedAnswer {
  readonly pieces: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;
  readonly media: string;
  /** Called when sending has ended, successfully or not. */
  readonly ended: (() => void) | undefined;

  constructor(pieces: StreamedAnswer["pieces"], media: string = JSON_MEDIA, ended?: () => void) {
    this.pieces = pieces;
    this.media = media;
    this.ended = ended;
  }
}

/** The answer 204 without a body. */
export const NO_CONTENT = new JsonText("");

export type Answer = object;

/** Turns a checked request of one endpoint into the body of its 200 answer. */
type Handler<O extends Operation> = (
  call: Call<QueryOf<EndpointOf<O>>, BodyOf<EndpointOf<O>>, PathOf<EndpointOf<O>["path"]>>,
  service: Service,
  view: View,
) => AnswerTo<O> | Promise<AnswerTo<O>>;

/** A handler whose endpoint is not known at compile time. */
export type AnyHandler = (
  call: Call<unknown, unknown>,
  service: Service,
  view: View,
) => Answer | Promise<Answer>;

/** A reply that matches its schema, or its text. */
type AnswerTo<O extends Operation> = ReplyTo<O> | JsonText | StreamedAnswer;

/** One handler for each of some endpoints. */
export type Handlers<O extends Operation> = { readonly [Name in O]: Handler<Name> };
