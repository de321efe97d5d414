import { connect } from "node:net";
import { expect } from "vitest";
import type { Api, Headers } from "../support/http.ts";
import type { Refusal } from "./replies.ts";

export const HOST = "Host: localhost";
export const JSON_BODY = "Content-Type: application/json";
export const CHUNKED = "Transfer-Encoding: chunked";

/** A response parsed from the bytes of a socket. */
export interface RawReply {
  readonly status: number;
  /** Values by lower-case name, in order. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly bytes: Buffer;
  readonly text: string;
}

export interface ReadOptions {
  /** Number of responses to wait for; the socket is closed after them. */
  readonly replies?: number;
  /** Whether the responses have a Content-Length and no body. */
  readonly isHead?: boolean;
}

/** A server answers within milliseconds; the rest is for a busy machine. */
const LIMIT_MS = 60_000;

/** Sends these bytes over a new socket and returns the complete responses received before the server closed it. */
export function repliesTo(
  port: number,
  bytes: string | Buffer,
  { replies = 1, isHead = false }: ReadOptions = {},
): Promise<RawReply[]> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    const found: RawReply[] = [];
    let rest: Buffer = Buffer.alloc(0);
    const end = (): void => {
      socket.destroy();
      resolve(found);
    };
    socket.setTimeout(LIMIT_MS, () => {
      socket.destroy();
      reject(new Error(`no answer within ${LIMIT_MS} ms after ${found.length}: ${rest.toString("latin1")}`));
    });
    socket.on("data", (chunk: Buffer) => {
      rest = takeReplies(Buffer.concat([rest, chunk]), isHead, found);
      if (found.length >= replies) end();
    });
    socket.on("end", end);
    // A server that has answered may close the connection before it has read everything.
    socket.on("error", (error) => (found.length > 0 || rest.length > 0 ? end() : reject(error)));
    socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes);
  });
}

/** The single response to these bytes. */
export async function replyTo(
  port: number,
  bytes: string | Buffer,
  options?: ReadOptions,
): Promise<RawReply> {
  const [reply] = await repliesTo(port, bytes, options);
  if (reply === undefined) throw new Error("the server closed the connection without an answer");
  return reply;
}

/** Bytes of a request; header lines are sent unchanged. A body has its Content-Length, unless the headers frame it. */
export function requestBytes(
  line: string,
  headers: readonly string[] = [HOST],
  body: string | Buffer = "",
  connection: "close" | "keep-alive" = "close",
): Buffer {
  const isFramed =
    body.length === 0 || headers.some((header) => /^(?:content-length|transfer)/i.test(header));
  const length = isFramed ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  const head = [`${line} HTTP/1.1`, ...headers, ...length, `Connection: ${connection}`, "", ""].join("\r\n");
  return Buffer.concat([Buffer.from(head, "latin1"), Buffer.from(body)]);
}

export const headerLines = (headers: Headers): string[] =>
  Object.entries(headers).map(([name, value]) => `${name}: ${value}`);

/** A body in the chunked transfer coding, in chunks of at most `size` characters. */
export const chunked = (body: string, size = Math.max(1, body.length)): string =>
  [...(body.match(new RegExp(`.{1,${size}}`, "gs")) ?? []), ""]
    .map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`)
    .join("");

/** The error that answers a request given as bytes; it must not change the state. */
export async function refusalTo(api: Api, bytes: string | Buffer): Promise<Refusal> {
  const before = await api.stateHash();
  const refusal = refusalIn(await replyTo(api.port, bytes));
  expect(await api.stateHash()).toBe(before);
  return refusal;
}

/** The JSON body of an error response. @throws Error if it lacks a field of every error. */
export function refusalIn({ status, headers, text }: RawReply): Refusal {
  const type = headers.get("content-type")?.join();
  if (type !== "application/json; charset=utf-8") throw new Error(`${status} of type ${type}: ${text}`);
  const body = JSON.parse(text) as Refusal;
  const { error, code, requestId } = body;
  const isComplete = [error, code, requestId].every((part) => typeof part === "string" && part !== "");
  if (!isComplete || body.status !== status || headers.get("x-request-id")?.join() !== requestId) {
    throw new Error(`${status} without the fields of an error: ${text}`);
  }
  return body;
}

/** The complete responses in these bytes. */
export function parseReplies(bytes: Buffer): RawReply[] {
  const found: RawReply[] = [];
  takeReplies(bytes, false, found);
  return found;
}

/** Adds the complete responses in these bytes to a list, and returns the other bytes. */
function takeReplies(bytes: Buffer, isHead: boolean, found: RawReply[]): Buffer {
  let start = 0;
  for (;;) {
    const end = bytes.indexOf("\r\n\r\n", start);
    if (end < 0) return bytes.subarray(start);
    const [statusLine = "", ...lines] = bytes.toString("latin1", start, end).split("\r\n");
    const headers = headersOf(lines);
    const status = Number(statusLine.split(" ")[1]);
    const isChunked = !isHead && headers.get("transfer-encoding")?.[0] === "chunked";
    const length = isHead ? 0 : Number(headers.get("content-length")?.[0] ?? 0);
    const body = isChunked ? chunkedBody(bytes, end + 4) : wholeBody(bytes, end + 4, length);
    if (body === null) return bytes.subarray(start);
    start = body.end;
    const { bytes: content } = body;
    if (status >= 200) found.push({ status, headers, bytes: content, text: content.toString() });
  }
}

/** Bytes of a body and the offset of its end; null if the body is not complete yet. */
type Body = { readonly bytes: Buffer; readonly end: number } | null;

const wholeBody = (bytes: Buffer, from: number, length: number): Body =>
  bytes.length < from + length ? null : { bytes: bytes.subarray(from, from + length), end: from + length };

function chunkedBody(bytes: Buffer, from: number): Body {
  const chunks: Buffer[] = [];
  for (let at = from; ; ) {
    const line = bytes.indexOf("\r\n", at);
    const length = line < 0 ? Number.NaN : Number.parseInt(bytes.toString("latin1", at, line), 16);
    const end = line + 2 + length + 2;
    if (!(end <= bytes.length)) return null;
    if (length === 0) return { bytes: Buffer.concat(chunks), end };
    chunks.push(bytes.subarray(line + 2, line + 2 + length));
    at = end;
  }
}

function headersOf(lines: readonly string[]): Map<string, string[]> {
  const headers = new Map<string, string[]>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).toLowerCase();
    headers.set(name, [...(headers.get(name) ?? []), line.slice(colon + 1).trim()]);
  }
  return headers;
}
