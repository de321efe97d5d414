import { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { scheduler } from "node:timers/promises";
import { CHAIN_PATH } from "../api/chain-rpc.ts";
import { ApiError } from "../api/errors.ts";
import { quoted } from "../core/format.ts";
import type { AppliedFault } from "./faults.ts";

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
  /** Asks for the body with 100; null if the client sends it unasked. */
  askForBody: (() => void) | null = null;
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
    return headers.upgrade?.toLowerCase() === "websocket" && this.isToChain;
  }

  set upgrade(asked: boolean) {
    this.asksForUpgrade = asked;
  }

  protected get isToChain(): boolean {
    return pathOf(this.url) === CHAIN_PATH;
  }

  /** Whether a body of unknown length follows; it may be empty. */
  get isChunked(): boolean {
    return this.headers["transfer-encoding"] !== undefined;
  }

  get announcedLength(): number {
    return Number(this.headers["content-length"] ?? 0);
  }

  /**
   * Checks the headers of a body; without a content type it counts as JSON. Pages of foreign origins can send such a body
   * without a preflight. This is harmless, because the request needs a signature or is refused for its origin.
   * @throws ApiError `UNSUPPORTED_MEDIA_TYPE` if the body is compressed or not JSON in UTF-8.
   */
  checkMediaType(): void {
    const { headers, rawHeaders } = this;
    const encoding = headers["content-encoding"];
    if (encoding !== undefined && encoding.toLowerCase() !== "identity") {
      throw unsupported(`content-encoding ${quoted(encoding, 200)}`, "send the body uncompressed");
    }
    const type = headers["content-type"];
    if (type === undefined) return;
    const isTwice = headerValues(rawHeaders, "content-type").length > 1;
    if (isTwice || !(type === "application/json" || JSON_TYPE.test(type))) {
      const found = isTwice ? "two content-types" : quoted(type, 200);
      throw unsupported(found, "send content-type: application/json");
    }
  }

  /**
   * Reads a body as raw bytes, because the signature covers them. Calls `done` with the bytes, or with the error
   * `PAYLOAD_TOO_LARGE` as soon as the limit is exceeded; never if the client disconnects before the end.
   */
  readBody(maximum: number, done: (error: ApiError | null, body: Buffer) => void): void {
    const chunks: Buffer[] = [];
    let length = 0;
    let isRefused = false;
    const refuse = (): void => {
      isRefused = true;
      const message = `the body is larger than ${maximum} bytes`;
      done(new ApiError("PAYLOAD_TOO_LARGE", message, { details: { maximum } }), NO_BODY);
    };
    if (this.announcedLength > maximum) refuse();
    else this.askForBody?.();
    this.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (!isRefused && length <= maximum) chunks.push(chunk);
      else if (length > MAX_DISCARDED) this.destroy();
      else if (!isRefused) refuse();
    });
    this.on("end", () => {
      if (isRefused) return;
      done(null, chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, length));
    });
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

export function pathOf(target: string): string {
  const query = target.indexOf("?");
  return query < 0 ? target : target.slice(0, query);
}

/** Returns all values of a header; `header` is in lower case. */
export function headerValues(rawHeaders: readonly string[], header: string): string[] {
  const values: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === header.length && name.toLowerCase() === header)
      values.push(rawHeaders[at + 1] as string);
  }
  return values;
}

/** A response without a Date header, because a frozen exchange must answer the same bytes each time. */
export class Outgoing extends ServerResponse<Incoming> {
  /** The head as latin1 text after `writeHead`. A property of Node that its types do not declare. */
  declare _header?: string | null;

  constructor(request: Incoming, options?: object) {
    // Node passes the server's options as a second argument, which its published types do not declare.
    super(...([request, options] as unknown as [Incoming]));
    this.sendDate = false;
  }

  /**
   * Sends the text of the body after `writeHead`, and ends the response. An ASCII text is appended to the head, so that the
   * socket gets one piece: `end` gives it two, the second one empty, and the system takes twice the time for several pieces.
   */
  endWith(text: string, isAscii: boolean): void {
    if (isAscii && typeof this._header === "string") {
      this._header += text;
      this.end();
    } else this.end(text, "utf8");
  }
}

/** Limit, in bytes, of a body of market data and trading. */
export const MAX_BODY = 64 * 1024;

/** Limit, in bytes, of a body on the control plane and of a call or batch on the chain, WebSocket messages included. */
export const MAX_LARGE_BODY = 1024 * 1024;

export const NO_BODY = Buffer.alloc(0);

const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-?8"?\s*)?$/i;

const unsupported = (found: string, hint: string): ApiError =>
  new ApiError("UNSUPPORTED_MEDIA_TYPE", `the body must be JSON in UTF-8, found ${found}`, { hint });

/** Bytes of a refused body that are read, so that the client can receive the answer, before the connection is closed. */
const MAX_DISCARDED = 16 * 1024 * 1024;

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

const PIECE_LENGTH = 64 * 1024;

/** Joins lines, each followed by `end`, into pieces of at least 64 Ki characters, the last one excepted. */
export function* inPieces(lines: Iterable<string>, end = "\n"): Generator<string> {
  let piece = "";
  for (const line of lines) {
    piece += line + end;
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = "";
  }
  if (piece !== "") yield piece;
}

export function* slicesOf(text: string): Generator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += PIECE_LENGTH) yield bytes.subarray(at, at + PIECE_LENGTH);
}

/** With fewer clients, each answer is sent immediately. */
const MIN_BATCHING_CLIENTS = 4;

/**
 * Sends answers in batches. With many clients, the answers of one turn of the event loop are sent together at its end: one
 * flush of the journal serves them all, and the clients are woken once, which costs more than making most answers.
 */
export class Outbox {
  #clients = 0;
  #ready: (() => void)[] = [];

  /** Counts a client until it disconnects. */
  countClient(socket: Socket): void {
    this.#clients += 1;
    socket.once("close", () => {
      this.#clients -= 1;
    });
  }

  /** Calls `send` now or with the next batch; it must not throw. */
  post(send: () => void): void {
    if (this.#clients < MIN_BATCHING_CLIENTS) send();
    else if (this.#ready.push(send) === 1) void this.#sendBatch();
  }

  async #sendBatch(): Promise<void> {
    await scheduler.yield();
    const ready = this.#ready;
    this.#ready = [];
    for (const send of ready) send();
  }
}
