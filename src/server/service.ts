import { IncomingMessage, ServerResponse } from "node:http";
import type { Checksums } from "../api/address.ts";
import { CHAIN_PATH } from "../api/chain-rpc.ts";
import type { Numbers } from "../api/decimals.ts";
import type { BodySpec, Params, RawBody, Read } from "../api/endpoint.ts";
import type { EndpointOf, Operation, ReplyTo } from "../api/endpoints.ts";
import type { MarketRanking, SearchIndex } from "../api/market-search.ts";
import type { BookPages } from "../api/order-book.ts";
import type { UnknownFields } from "../api/request-body.ts";
import type { HmacKeys } from "../api/signing.ts";
import type { View } from "../api/view.ts";
import type { Bots } from "../bots/bots.ts";
import type { RefusedRequest } from "../core/refusals.ts";
import type { Address } from "../core/terms.ts";
import type { Clock } from "../engine/clock.ts";
import type { Exchange } from "../engine/exchange.ts";
import type { Persistence } from "../engine/journal.ts";
import type { Keyring } from "../engine/keyring.ts";
import type { Slices } from "../engine/slices.ts";
import type { Snapshots } from "../engine/snapshots.ts";
import type { Outbox } from "./connection.ts";
import type { Fault, Faults } from "./faults.ts";
import type { RequestLog } from "./request-log.ts";

/** A request with what the edge notes about it on arrival. */
export class Incoming extends IncomingMessage {
  declare wishesUpgrade: boolean;
  declare url: string;
  declare method: string;
  /** `performance.now()` at arrival. */
  arrivedAt = 0;
  requestId = "";
  /** The address whose credentials signed it; empty until they are found right. */
  caller = "";
  /** What the client is warned of, such as fields that its endpoint does not know, as the response header says it. */
  warning = "";
  /** The bytes of a body that its handler reads itself; null until they have come. */
  rawBody: Buffer | null = null;
  fault: Fault | null = null;
  /** The sequence of the first command that it may have made, and of the latest when its answer was made. */
  firstCommand = Number.POSITIVE_INFINITY;
  lastCommand = 0;

  /**
   * Whether Node hands its connection over, which it asks before anything else: only for a WebSocket to the chain. A wish
   * for any other protocol is ignored, as HTTP allows.
   */
  get upgrade(): boolean {
    if (!this.wishesUpgrade) return false;
    const { method, headers } = this;
    if (method !== "GET") return method === "CONNECT";
    return isWebSocket(headers.upgrade) && this.isToChain;
  }

  set upgrade(wishes: boolean) {
    this.wishesUpgrade = wishes;
  }

  protected get isToChain(): boolean {
    return pathOf(this.url) === CHAIN_PATH;
  }
}

/** What is told of a request that went wrong: one of HTTP, or a message of a WebSocket. */
export type Asked = Pick<
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

/** A response that says nothing of the wall clock: a frozen exchange answers the same bytes. */
export class Outgoing extends ServerResponse {
  constructor(request: IncomingMessage, options?: object) {
    // Node hands its server's options on, of which the published types of the class do not know.
    super(...([request, options] as unknown as [IncomingMessage]));
    this.sendDate = false;
  }
}

/** A development account: anybody may know its key. */
export interface DevWallet {
  readonly address: `0x${string}`;
  readonly privateKey: `0x${string}`;
}

export interface ServiceOptions {
  readonly version: string;
  /** What stands before every path of the exchange: `/3` of the third one of a pool, else nothing. */
  readonly prefix: string;
  readonly personalSign: boolean;
  readonly unknownFields: UnknownFields;
  /** What a caller of the control plane must show; null lets every local caller in. */
  readonly simToken: string | null;
  /** Names a Host header may carry besides loopback, lower case. */
  readonly allowHosts: readonly string[];
  /** Whether the server is reachable from other machines, so that its IP addresses are names of its own. */
  readonly beyondLoopback: boolean;
  readonly requestTimeoutMs: number;
  readonly devAccounts: readonly DevWallet[];
}

/** A session as a scenario file, and how many orders and trades it tells. */
type RecordedSession = ReplyTo<"recordScenario">;

interface ChainCalls {
  /** From the bytes of a request to the text of its answer, empty when there is none. Who is not trusted may not steer the chain. */
  answer(request: Buffer, isTrusted: boolean): Promise<string>;
}

export interface Chain extends ChainCalls {
  /** A client that holds a connection and may subscribe; it is told on `sink`. */
  connect(sink: ChainSink): Promise<ChainClient>;
}

/** Where a client of the chain is told what it has subscribed to. */
export interface ChainSink {
  /** Whether it takes more. Once it does again, `ChainClient.tell` is to be called. */
  readonly hasRoom: boolean;
  send(notification: string | Buffer): void;
  /** Called with a defect because of which nothing more is told. */
  fail(defect: unknown): void;
}

export interface ChainClient extends ChainCalls {
  /** Goes on telling, now that there is room. */
  tell(): void;
  close(): void;
}

/** Where a reader of the live feed wishes to begin. */
export interface StreamBeginning {
  readonly from: "start" | "now";
  /** The id of the entry behind which it goes on; null: as `from` says. */
  readonly after: string | null;
}

/** What an exchange does, told as it happens. */
export interface LiveFeed {
  /** What a new reader is sent, which does not end. @throws ApiError when there are too many. */
  open(beginning: StreamBeginning): Pieces;
  /** Told of a request that was refused now. */
  refused(request: RefusedRequest): void;
  /** Told of each request that was answered; of status 0 when its connection was cut instead. */
  answered(request: Asked, status: number, code: string | undefined): void;
  /** Ends what all readers are sent; none comes any more. */
  close(): void;
}

export interface RootPage {
  answer(service: Service, request: Incoming, response: Outgoing): Promise<void>;
}

/** One exchange as HTTP serves it: everything a handler may use. */
export interface Service {
  readonly options: ServiceOptions;
  readonly exchange: Exchange;
  readonly clock: Clock;
  /** Keeps what is answered. */
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
  /** Where long work waits for its share of the event loop. */
  readonly slices: Slices;
  readonly outbox: Outbox;
  readonly log: RequestLog;
  readonly chain: Chain;
  readonly stream: LiveFeed;
  readonly page: RootPage;
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
  openApi(): Promise<string>;
}

/** What replies are made from at this moment. */
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
/** What the reader of an endpoint's body answers. */
export type BodyOf<E> = E extends { readonly body: BodySpec<infer Body> }
  ? Body
  : E extends { readonly body: RawBody }
    ? Buffer
    : null;

type PathOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [Key in Name]: string } & PathOf<Rest>
  : unknown;

/** A request as a handler sees it: read, checked and, where the endpoint asks for it, authenticated. */
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

/** JSON that stands as text already, a document unless its media type says something else. */
export class JsonText {
  readonly text: string;
  readonly media: string;

  constructor(text: string, media: string = JSON_MEDIA) {
    this.text = text;
    this.media = media;
  }
}

/** An answer that is made while it is sent: however long it is, little of it is in memory at a time. */
export class Pieces {
  readonly pieces: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;
  readonly media: string;
  /** Called once nothing more is sent, whatever ended it. */
  readonly ended: (() => void) | undefined;

  constructor(pieces: Pieces["pieces"], media: string = JSON_MEDIA, ended?: () => void) {
    this.pieces = pieces;
    this.media = media;
    this.ended = ended;
  }
}

/** Nothing to answer: 204, without a body. */
export const SILENCE = new JsonText("");

export type Answer = object;

/** What one endpoint does: from a checked request to the body of its 200 answer. */
type Handler<O extends Operation> = (
  call: Call<QueryOf<EndpointOf<O>>, BodyOf<EndpointOf<O>>, PathOf<EndpointOf<O>["path"]>>,
  service: Service,
  view: View,
) => AnswerTo<O> | Promise<AnswerTo<O>>;

/** A handler whose endpoint is known when it is called. */
export type AnyHandler = (
  call: Call<unknown, unknown>,
  service: Service,
  view: View,
) => Answer | Promise<Answer>;

/** The reply as its schema describes it, or its text. */
type AnswerTo<O extends Operation> = ReplyTo<O> | JsonText | Pieces;

/** The handlers of some endpoints; the compiler sees to it that none is missing. */
export type Handlers<O extends Operation> = { readonly [Name in O]: Handler<Name> };
