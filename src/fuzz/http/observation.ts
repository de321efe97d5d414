import { Buffer } from "node:buffer";
import type { Operation } from "../../api/endpoints.ts";

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

/** The log in a file that `logText` made. */
export function readLog(text: string): ObservationLog {
  const [facts, ...observations] = text
    .split("\n")
    .filter((line) => line !== "")
    .map((line): unknown => JSON.parse(line));
  return { ...(facts as Omit<ObservationLog, "observations">), observations: observations as Observation[] };
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
