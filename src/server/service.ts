import type { NotificationSink } from "../api/chain-rpc.ts";
import type { BodySpec, RawBody, Read } from "../api/endpoint.ts";
import type { AnyEndpoint, EndpointOf, Operation, ReplyTo } from "../api/endpoints.ts";
import type { MarketRanking, SearchIndex } from "../api/market-search.ts";
import type { BookTexts } from "../api/order-book.ts";
import type { UnknownFields } from "../api/request-body.ts";
import type { Numbers, View } from "../api/view.ts";
import type { Bots } from "../bots/bots.ts";
import type { Slices, Snapshots } from "../engine/clock.ts";
import type { Keyring } from "../engine/keyring.ts";
import type { OpenedExchange } from "../engine/open-exchange.ts";
import type { Faults } from "./faults.ts";
import type { Incoming, JsonText, Outbox, StreamedAnswer } from "./messages.ts";
import type { RequestLog } from "./request-log.ts";
import type { Stream } from "./stream.ts";

/** A development account, whose private key is public. */
export interface DevWallet {
  readonly address: `0x${string}`;
  readonly privateKey: `0x${string}`;
}

export interface ServiceOptions {
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

/** The settlement chain as an Ethereum node. */
interface Chain {
  /** Answers a JSON-RPC request; an empty text means no reply. Only trusted callers may control the chain. */
  answer(request: Buffer, isTrusted: boolean): Promise<string>;
  /** Adds a client with a connection of its own; notifications of its subscriptions go to `sink`. */
  connect(sink: NotificationSink): ChainClient;
}

export interface ChainClient extends Pick<Chain, "answer"> {
  /** Sends pending notifications while the sink has room. */
  sendPending(): Promise<void>;
  close(): void;
}

/** What all exchanges of a server share. */
export interface SharedService {
  /** Time slices of the event loop for long work. */
  readonly slices: Slices;
  readonly outbox: Outbox;
  readonly log: RequestLog;
}

/** Bug reports of an exchange. */
export interface BugReports {
  /** Returns a bug report that can be replayed elsewhere, as JSON lines. @throws ApiError if it is too large. */
  report(reason: string): Promise<Iterable<Uint8Array>>;
  /** Writes a bug report for a defect if reports are enabled. */
  reportDefect(error: unknown, reason: string): void;
}

type Opened = "exchange" | "clock" | "persistence" | "session" | "recordRefused" | "reopen";

/**
 * Everything that handlers may use of one exchange. `session` has its commands and refused requests since it was opened;
 * `reopen` also removes snapshots and faults and restarts the bots.
 */
export interface Service extends Pick<OpenedExchange, Opened>, SharedService, BugReports {
  readonly options: ServiceOptions;
  readonly numbers: Numbers;
  readonly keyring: Keyring;
  readonly books: BookTexts;
  readonly search: SearchIndex;
  readonly ranking: MarketRanking;
  readonly snapshots: Snapshots;
  readonly faults: Faults;
  readonly bots: Bots;
  readonly stream: Stream;
  /** Loads the chain with the first request, because loading it would delay the start. */
  readonly chain: () => Promise<Chain>;
  /** Returns the session since the world was opened as a scenario file. @throws ApiError if no scenario can express it. */
  record(name: string | null): Promise<ReplyTo<"recordScenario">>;
}

/** Returns the current state in the form from which replies are built. */
export function viewOf(service: Pick<Service, "exchange" | "numbers">): View {
  return { state: service.exchange.state, numbers: service.numbers };
}

/** Type of an endpoint's parsed body. */
export type BodyOf<E> = E extends { readonly body: BodySpec<infer Body> }
  ? Body
  : E extends { readonly body: RawBody }
    ? Buffer
    : null;

type PathOf<Route extends string> = Route extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [Key in Name]: string } & PathOf<Rest>
  : unknown;

/** A request as a handler receives it: parsed, validated and, for a signed endpoint, authenticated. */
export interface Call<E extends AnyEndpoint> extends Pick<Incoming, "caller" | "headers" | "rawHeaders"> {
  readonly query: Read<E["query"]>;
  readonly body: BodyOf<E>;
  readonly path: PathOf<E["route"]>;
}

/** Turns a checked request into the body of its 200 answer. */
type Handler<Checked, Answered> = (
  call: Checked,
  service: Service,
  view: View,
) => Answered | Promise<Answered>;

/** A handler whose endpoint is not known at compile time. */
export type AnyHandler = Handler<object, object>;

/** One handler for each of some endpoints; it answers with a reply that matches its schema, or with its text. */
export type Handlers<O extends Operation> = {
  readonly [Name in O]: Handler<Call<EndpointOf<Name>>, ReplyTo<Name> | JsonText | StreamedAnswer>;
};
