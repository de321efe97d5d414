import { Buffer } from "node:buffer";
import { ENDPOINTS, type Operation } from "../../api/endpoints.ts";
import { authHeaders, targetOf } from "../../client/connection.ts";
import type { SigningCredentials } from "../../client/messages.ts";
import type { FailureFingerprint } from "../../history/shrink/fingerprint.ts";

/** A request as it was sent. */
export interface SentRequest {
  readonly operation: Operation;
  readonly method: "GET" | "POST" | "DELETE";
  /** Path and query. */
  readonly target: string;
  /** Node's flat list name, value, name, value, ... */
  readonly headers: readonly string[];
  /** Empty when there is none. */
  readonly body: string;
  /** The parameters in its path. */
  readonly path: Readonly<Record<string, string>>;
}

/** A whole answer. */
export interface SeenAnswer {
  readonly status: number;
  /** `x-sim-sequence`: how many commands had been accepted when it was made. */
  readonly sequence: number;
  /** `x-sim-time`: virtual time then, Unix ms. */
  readonly time: number;
  readonly requestId: string;
  /** `x-sim-fault`: the injected fault that struck the request; null for none. */
  readonly fault: string | null;
  readonly body: string;
}

/**
 * One request and what came of it. Order numbers count every request that is sent and every answer that has come, over
 * all clients: of two events the one with the lower number was first.
 */
export interface Observation {
  readonly client: number;
  readonly request: SentRequest;
  readonly sent: number;
  /** Null where no answer came. */
  readonly answered: number | null;
  readonly answer: SeenAnswer | null;
}

/** All that the clients of one exchange saw, in the order in which requests were sent. */
export interface ObservationLog {
  /** How the server writes numbers: answers cannot be made again without it. */
  readonly numbers: "number" | "string";
  /** Why requests may be without an answer; without a reason each must have one. */
  readonly mayLose: readonly ("faults" | "kill")[];
  /** The name of the state at the end, as the server said it (`GET /sim/state/hash`); null where it did not. */
  readonly finalHash: string | null;
  readonly observations: readonly Observation[];
}

/** A log as a file: its facts in the first line, then a line for each observation. */
export function logText({ observations, ...facts }: ObservationLog): string {
  return [facts, ...observations].map((line) => `${JSON.stringify(line)}\n`).join("");
}

/** Whether an injected fault answered instead of the exchange: nothing was carried out. */
export const isInjected = ({ fault, status, body }: SeenAnswer): boolean =>
  fault !== null && status >= 429 && body.includes('"details":{"fault":');

/** The bytes of a request on a connection that stays open. */
export function bytesOf({ method, target, headers, body }: SentRequest): Buffer {
  const lines = [`${method} ${target} HTTP/1.1`];
  for (let index = 0; index < headers.length; index += 2)
    lines.push(`${headers[index]}: ${headers[index + 1]}`);
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body}`, "utf8");
}

/** What of a request its endpoint does not say. */
interface RequestParts {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
}

const HOST = "127.0.0.1";

/** Writes a request to an endpoint; `signer` signs it at a moment, in Unix seconds. */
export function requestTo(
  operation: Operation,
  { path = {}, query = {}, body }: RequestParts = {},
  signer: { readonly credentials: SigningCredentials; readonly unixTime: number } | null = null,
): SentRequest {
  const endpoint = ENDPOINTS.find((each) => each.operation === operation);
  if (endpoint === undefined) throw new RangeError(`no endpoint ${operation}`);
  const { method } = endpoint;
  const route = endpoint.path.replace(/\{(\w+)\}/g, (_, name: string) => path[name] ?? "");
  const target = targetOf(route, query);
  const text = body === undefined ? "" : JSON.stringify(body);
  const headers = ["host", HOST];
  if (text !== "") headers.push("content-type", "application/json");
  if (text !== "" || method === "POST") headers.push("content-length", String(Buffer.byteLength(text)));
  if (signer !== null) {
    const signable = { method, target, body: text };
    headers.push(...authHeaders(signer.credentials, signable, signer.unixTime).flat());
  }
  return { operation, method, target, headers, body: text, path };
}

/** What is wrong with what the clients of one exchange saw; thrown where it shows. */
export class Finding extends Error {
  /** Equal where the same is wrong: without numbers and names. */
  readonly fingerprint: string;
  /** The request that it showed at; null where it showed behind the last. */
  readonly seen: Observation | null;
  /** Whether the journal alone shows it, so that a history of commands can tell it. */
  readonly isOfHistory: boolean;

  constructor(fingerprint: string, sentence: string, seen: Observation | null, isOfHistory = false) {
    super(sentence);
    this.fingerprint = isOfHistory ? fingerprint : `http: ${fingerprint}`;
    this.seen = seen;
    this.isOfHistory = isOfHistory;
  }

  /** A finding about a request. */
  static about(seen: Observation, fingerprint: string, sentence: string): Finding {
    const { client, sent, request } = seen;
    const name = `request ${sent} (connection ${client}, ${request.method} ${request.target.split("?")[0]})`;
    return new Finding(fingerprint, `${name} ${sentence}`, seen);
  }

  /** A finding that the journal shows by itself: a broken invariant, or something that was thrown. */
  static ofHistory({ key, sentence }: FailureFingerprint, seen: Observation | null = null): Finding {
    return new Finding(key, sentence, seen, true);
  }
}

/** What was answered: `answered 200 at sequence 41`. */
export const answerName = ({ answer }: Observation): string =>
  answer === null ? "had no answer" : `answered ${answer.status} at sequence ${answer.sequence}`;
