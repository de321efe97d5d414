import { Buffer } from "node:buffer";
import { endpointOf, filledPath, type Operation } from "../../api/endpoints.ts";
import { authHeaders, type SigningCredentials, targetOf } from "../../client/connection.ts";
import type { FailureFingerprint } from "../../history/shrink/trial.ts";

/** A request as it was sent. */
export interface SentRequest {
  readonly operation: Operation;
  readonly method: "GET" | "POST" | "DELETE";
  /** Path and query. */
  readonly target: string;
  /** Node's flat list: name, value, name, value, ... */
  readonly headers: readonly string[];
  /** Empty if there is none. */
  readonly body: string;
  /** Path parameters. */
  readonly path: Readonly<Record<string, string>>;
}

/** An answer as a client received it. */
export interface SeenAnswer {
  readonly status: number;
  /** `x-sim-sequence`: number of commands accepted when the answer was made. */
  readonly sequence: number;
  /** `x-sim-time`: virtual time when the answer was made, Unix ms. */
  readonly time: number;
  readonly requestId: string;
  /** `x-sim-fault`: the injected fault that applied to the request; null for none. */
  readonly fault: string | null;
  readonly body: string;
}

/**
 * A request with its answer. `sent` and `answered` number all requests sent and answers received in the order in which
 * they happened, over all clients.
 */
export interface Observation {
  readonly client: number;
  readonly request: SentRequest;
  readonly sent: number;
  /** Null if no answer was received. */
  readonly answered: number | null;
  readonly answer: SeenAnswer | null;
}

/** All observations of the clients of one exchange, in the order in which requests were sent. */
export interface ObservationLog {
  /** How the server writes numbers, which the replay needs to make the same answers. */
  readonly numbers: "number" | "string";
  /** Why requests may lack an answer. If empty, each must have one. */
  readonly mayLose: readonly ("faults" | "kill")[];
  /** State hash at the end, from `GET /sim/state/hash`; null if the request had no answer. */
  readonly finalHash: string | null;
  readonly observations: readonly Observation[];
}

/** Returns the text of a log file: the other fields in the first line, then a line for each observation. */
export function logText({ observations, ...facts }: ObservationLog): string {
  return [facts, ...observations].map((line) => `${JSON.stringify(line)}\n`).join("");
}

/** Whether an injected fault answered, so that the request was not executed. */
export const isInjected = ({ fault, status, body }: SeenAnswer): boolean =>
  fault !== null && status >= 429 && body.includes('"details":{"fault":');

/** Returns the bytes of a request on a keep-alive connection. */
export function bytesOf({ method, target, headers, body }: SentRequest): Buffer {
  const lines = [`${method} ${target} HTTP/1.1`];
  for (let index = 0; index < headers.length; index += 2)
    lines.push(`${headers[index]}: ${headers[index + 1]}`);
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body}`, "utf8");
}

/** The parts of a request that its endpoint does not define. */
interface RequestParts {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
}

const HOST = "127.0.0.1";

/** Builds a request to an endpoint. `signer` signs it at `unixTime`, in seconds. */
export function requestTo(
  operation: Operation,
  { path = {}, query = {}, body }: RequestParts = {},
  signer: { readonly credentials: SigningCredentials; readonly unixTime: number } | null = null,
): SentRequest {
  const endpoint = endpointOf(operation);
  const { method } = endpoint;
  const target = targetOf(filledPath(endpoint, path), query);
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

/** Thrown when observations and journal contradict each other. */
export class Finding extends Error {
  /** Kind of failure without numbers and names: equal for failures of the same cause. */
  readonly fingerprint: string;
  /** The request at which it was found; null if it was found after the last. */
  readonly observation: Observation | null;
  /** Whether the journal alone shows it, so that replaying its commands can reproduce it. */
  readonly isInJournal: boolean;

  constructor(fingerprint: string, sentence: string, observation: Observation | null, isInJournal = false) {
    super(sentence);
    this.fingerprint = isInJournal ? fingerprint : `http: ${fingerprint}`;
    this.observation = observation;
    this.isInJournal = isInJournal;
  }

  /** Returns a finding about a request. */
  static about(observation: Observation, fingerprint: string, sentence: string): Finding {
    const { client, sent, request } = observation;
    const name = `request ${sent} (connection ${client}, ${request.method} ${request.target.split("?")[0]})`;
    return new Finding(fingerprint, `${name} ${sentence}`, observation);
  }

  /** Returns a finding about the answer of a request. */
  static ofAnswer(observation: Observation, kind: string, detail: string): Finding {
    const fingerprint = `${kind}: ${observation.request.operation}`;
    return Finding.about(observation, fingerprint, `${answerName(observation)}${detail}`);
  }

  /** Returns a finding that the journal alone shows: a broken invariant or an error. */
  static inJournal({ key, sentence }: FailureFingerprint, observation: Observation | null = null): Finding {
    return new Finding(key, sentence, observation, true);
  }
}

/** Describes an answer: `answered 200 at sequence 41`. */
export const answerName = ({ answer }: Observation): string =>
  answer === null ? "had no answer" : `answered ${answer.status} at sequence ${answer.sequence}`;
