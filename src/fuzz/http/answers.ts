import { Buffer } from "node:buffer";
import { Socket } from "node:net";
import { ENDPOINTS } from "../../api/endpoints.ts";
import { ApiError, errorBody } from "../../api/errors.ts";
import { MarketRanking, SearchIndex } from "../../api/market-search.ts";
import { BookPages } from "../../api/order-book.ts";
import { serviceOf } from "../../compose.ts";
import { DEFAULT_CONFIG } from "../../config.ts";
import type { Millis } from "../../core/units.ts";
import type { Exchange } from "../../engine/exchange.ts";
import type { Entry } from "../../engine/journal.ts";
import { openUnkept } from "../../engine/open-exchange.ts";
import type { Origin } from "../../engine/origin.ts";
import { defectOf, withoutFigures } from "../../history/shrink/fingerprint.ts";
import { HANDLERS } from "../../server/handlers/all.ts";
import { clockReply } from "../../server/handlers/control.ts";
import { type AnyHandler, answerOf } from "../../server/router.ts";
import { type Answer, Incoming, JsonText, Pieces, type Service } from "../../server/service.ts";
import {
  answerName,
  type Finding,
  found,
  type Observation,
  type ObservationLog,
  ofHistory,
  requestName,
  type SentRequest,
} from "./observation.ts";

/** Where two answers differ first. */
interface Difference {
  /** Names of fields and places in lists, such as `bids[0].size`; empty where the whole differs. */
  readonly path: string;
  readonly expected: string;
  readonly found: string;
}

const MAX_SHOWN = 120;

/** The first difference of two JSON texts, in the order of the expected one; of other texts, the whole. */
function firstDifference(expected: string, found: string): Difference {
  const [a, b] = [parsed(expected), parsed(found)];
  return between("", a, b) ?? { path: "", expected: shown(expected), found: shown(found) };
}

function between(path: string, expected: unknown, found: unknown): Difference | null {
  if (Object.is(expected, found)) return null;
  if (isObject(expected) && isObject(found) && Array.isArray(expected) === Array.isArray(found)) {
    for (const name of new Set([...Object.keys(expected), ...Object.keys(found)])) {
      const at = Array.isArray(expected) ? `${path}[${name}]` : path === "" ? name : `${path}.${name}`;
      const difference = between(at, expected[name], found[name]);
      if (difference !== null) return difference;
    }
    return null;
  }
  return { path, expected: shown(expected), found: shown(found) };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

function shown(value: unknown): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A path that is equal for every place of a list and every id that is a field's name. */
const pathKey = (path: string): string => withoutFigures(path).replace(/\[#\]/g, "[]");

/** How an answer differs from what it should be; null where it does not, or where there is none. */
function answerDifference(
  seen: Observation,
  reply: Reply,
): { readonly fingerprint: string; readonly sentence: string } | null {
  const { answer, request } = seen;
  if (answer === null || (answer.status === reply.status && answer.body === reply.body)) return null;
  const { operation } = request;
  const [was, is] = [statusName(answer), statusName(reply)];
  if (was !== is) {
    return {
      fingerprint: `another status: ${operation} ${was}, again ${is}`,
      sentence: `${answerName(seen)} (${was}), made again there it is ${is}`,
    };
  }
  const { path, expected, found } = firstDifference(reply.body, answer.body);
  return {
    fingerprint: `another answer: ${operation} ${was}: ${pathKey(path)}`,
    sentence: `${answerName(seen)}; made again there, ${path || "its body"} is ${expected}, found ${found}`,
  };
}

/** A status with the error code of its body: `400 INVALID_SIZE`. */
export function statusName({ status, body }: Reply): string {
  const code = status === 200 ? undefined : /"code":"(\w+)"/.exec(body)?.[1];
  return code === undefined ? String(status) : `${status} ${code}`;
}

/** What a request comes to. */
export interface Reply {
  readonly status: number;
  readonly body: string;
}

const ENDPOINT_OF = new Map(ENDPOINTS.map((endpoint) => [endpoint.operation, endpoint]));

/**
 * An exchange in memory that is brought along a history and answers requests on the way, by the server's own handlers,
 * without a socket and without anything that was cached for another answer.
 */
export class AnswerAgain {
  readonly exchange: Exchange;
  readonly #service: Service;
  readonly #log: () => readonly Entry[];
  readonly #socket = new Socket();

  /** Stands where the history begins. */
  constructor(origin: Origin, { numbers }: Pick<ObservationLog, "numbers">) {
    const config = { ...DEFAULT_CONFIG, clock: { mode: "frozen" }, logLevel: "silent", numbers } as const;
    const opened = openUnkept(config, origin);
    this.exchange = opened.exchange;
    this.#service = serviceOf(config, opened);
    this.#log = () => opened.session.entries ?? [];
  }

  /** The commands accepted behind a sequence, those among them that time causes at the same moment. */
  acceptedSince(sequence: number): readonly Entry[] {
    return this.#log().filter((entry) => entry.sequence > sequence);
  }

  /** Lets time pass as a frozen clock does that is moved over nothing. @throws RangeError backwards. */
  passTo(time: number): void {
    this.exchange.passTo(time as Millis);
  }

  /** What the clock says of itself, without what became due. */
  clock(): object {
    return clockReply(this.#service);
  }

  /** Answers a request here and now; an accepted one changes the exchange. @throws what makes the handler fail. */
  async answer(request: SentRequest, requestId: string): Promise<Reply> {
    const endpoint = ENDPOINT_OF.get(request.operation);
    if (endpoint === undefined) throw new RangeError(`no endpoint ${request.operation}`);
    const service = {
      ...this.#service,
      books: new BookPages(),
      ranking: new MarketRanking(),
      search: new SearchIndex(),
    };
    const incoming = Object.assign(this.#incoming(request), { params: { ...request.path } });
    const handle = HANDLERS[request.operation] as AnyHandler;
    try {
      const answer = await answerOf(service, endpoint, handle, incoming, Buffer.from(request.body));
      return { status: 200, body: textOf(answer) };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return { status: error.status, body: JSON.stringify(errorBody(error, requestId)) };
    }
  }

  #incoming({ method, target, headers }: SentRequest): Incoming {
    const incoming = new Incoming(this.#socket);
    incoming.method = method;
    incoming.url = target;
    incoming.rawHeaders = [...headers];
    incoming.headers = headersOf(headers);
    return incoming;
  }
}

function headersOf(raw: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let index = 0; index < raw.length; index += 2) headers[String(raw[index])] = String(raw[index + 1]);
  return headers;
}

function textOf(answer: Answer): string {
  if (answer instanceof JsonText) return answer.text;
  if (answer instanceof Pieces) throw new TypeError("an answer in pieces is not compared");
  return JSON.stringify(answer);
}

/** Holds single answers against what is answered where a history stands. */
export class AnswerCheck {
  readonly #again: AnswerAgain;
  readonly #indexOf: ReadonlyMap<Observation, number>;

  constructor(again: AnswerAgain, observations: readonly Observation[]) {
    this.#again = again;
    this.#indexOf = new Map(observations.map((observation, index) => [observation, index]));
  }

  /** The request answered here, which carries it out; a finding where that fails. */
  async reply(seen: Observation): Promise<Reply | Finding> {
    try {
      return await this.#again.answer(seen.request, seen.answer?.requestId ?? "");
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return ofHistory(defectOf(message), this.#indexOf.get(seen) ?? 0);
    }
  }

  /** How an answer differs from the one that was made here. */
  different(seen: Observation, reply: Reply): Finding | null {
    const difference = answerDifference(seen, reply);
    return difference && this.found(difference.fingerprint, seen, difference.sentence);
  }

  /** A finding about a request. */
  found(fingerprint: string, seen: Observation, sentence: string): Finding {
    return found(fingerprint, `${requestName(seen)} ${sentence}`, this.#indexOf.get(seen) ?? 0);
  }
}
