import { Buffer } from "node:buffer";
import { Socket } from "node:net";
import { ENDPOINTS } from "../../api/endpoints.ts";
import { ApiError, errorBody } from "../../api/errors.ts";
import { MarketRanking, SearchIndex } from "../../api/market-search.ts";
import { BookPages } from "../../api/order-book.ts";
import { serviceOf } from "../../compose.ts";
import { DEFAULT_CONFIG, VERSION } from "../../config.ts";
import type { Millis } from "../../core/units.ts";
import type { Exchange } from "../../engine/exchange.ts";
import type { Entry } from "../../engine/journal.ts";
import { openingIn } from "../../engine/journal-scan.ts";
import { openInMemory } from "../../engine/open-exchange.ts";
import { type Origin, originOfJournal } from "../../engine/origin.ts";
import { type WholeHistory, wholeHistory } from "../../history/journal-replay.ts";
import { inMemory } from "../../history/report.ts";
import { defectOf, withoutFigures } from "../../history/shrink/fingerprint.ts";
import { differences } from "../../scenario/run/diff.ts";
import { HANDLERS } from "../../server/handlers/all.ts";
import { clockReply } from "../../server/handlers/control.ts";
import { answerOf } from "../../server/router.ts";
import {
  type Answer,
  type AnyHandler,
  Incoming,
  JsonText,
  type Service,
  StreamedAnswer,
} from "../../server/service.ts";
import {
  answerName,
  Finding,
  type Observation,
  type ObservationLog,
  type SentRequest,
} from "./observation.ts";

const NAME = "the report";

/** What a server kept or reported of its session, decided anew. */
export type Journal = ReturnType<typeof readJournal>;

/** Reads a report, or a data directory's journal. @throws StoreError when it is neither. */
export function readJournal(bytes: Uint8Array) {
  const file = inMemory(Buffer.from(bytes));
  const opening = openingIn(file);
  if (opening === null) throw new Error("the report has no whole first line");
  const history = wholeHistory({ path: NAME, name: NAME, isFolder: false, file, opening }, VERSION);
  return { origin: originOfJournal(opening, NAME), history, trouble: troubleOf(history) };
}

/** What is wrong with a journal by itself, in a sentence; null where it replays as it was recorded. */
function troubleOf({ end: { trouble, scan }, failing, exchange }: WholeHistory): string | null {
  if (failing !== null)
    return `${failing.command.kind} makes the exchange fail: ${messageOf(exchange.thrown?.error)}`;
  if (trouble !== null)
    return `line ${trouble.line.n}, ${trouble.line.k}, ${trouble.outcome.kind} when it is decided again`;
  return scan.damage === null ? null : "a line is damaged";
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** What a request comes to. */
export interface Reply {
  readonly status: number;
  readonly body: string;
}

/** A status with the error code of its body: `400 INVALID_SIZE`. */
export function statusName({ status, body }: Reply): string {
  const code = status === 200 ? undefined : /"code":"(\w+)"/.exec(body)?.[1];
  return code === undefined ? String(status) : `${status} ${code}`;
}

/** @throws Finding where an answer is not what it should be */
export function requireSame(seen: Observation, reply: Reply): void {
  const { answer, request } = seen;
  if (answer === null || (answer.status === reply.status && answer.body === reply.body)) return;
  const [was, is] = [statusName(answer), statusName(reply)];
  if (was !== is) {
    throw Finding.about(
      seen,
      `another status: ${request.operation} ${was}, again ${is}`,
      `${answerName(seen)} (${was}), made again there it is ${is}`,
    );
  }
  const [wanted, found] = [parsed(reply.body), parsed(answer.body)];
  const [lacks] = differences(wanted, found);
  const [exceeds] = differences(found, wanted);
  const difference = lacks ?? {
    path: exceeds?.path ?? "answer",
    wanted: exceeds?.seen,
    seen: exceeds?.wanted,
  };
  // Equal for every place of a list and every id that is a field's name.
  const path = withoutFigures(difference.path).replace(/\[#\]/g, "[]");
  throw Finding.about(
    seen,
    `another answer: ${request.operation} ${was}: ${path}`,
    `${answerName(seen)}; made again there, ${difference.path} is ${difference.wanted}, found ${difference.seen}`,
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
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
    const opened = openInMemory(config, origin);
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

  /** The request answered here and now, which carries it out. @throws Finding where that fails */
  async reply(seen: Observation): Promise<Reply> {
    const { request, answer } = seen;
    const endpoint = ENDPOINT_OF.get(request.operation);
    if (endpoint === undefined) throw new RangeError(`no endpoint ${request.operation}`);
    const service = {
      ...this.#service,
      books: new BookPages(),
      ranking: new MarketRanking(),
      search: new SearchIndex(),
    };
    const handle = HANDLERS[request.operation] as AnyHandler;
    try {
      const body = Buffer.from(request.body);
      return {
        status: 200,
        body: textOf(await answerOf(service, endpoint, handle, this.#incoming(request), body)),
      };
    } catch (error) {
      if (!(error instanceof ApiError)) throw Finding.ofHistory(defectOf(messageOf(error)), seen);
      return { status: error.status, body: JSON.stringify(errorBody(error, answer?.requestId ?? "")) };
    }
  }

  #incoming({ method, target, headers, path }: SentRequest) {
    const incoming = new Incoming(this.#socket);
    incoming.method = method;
    incoming.url = target;
    incoming.rawHeaders = [...headers];
    for (let index = 0; index < headers.length; index += 2)
      incoming.headers[String(headers[index])] = String(headers[index + 1]);
    return Object.assign(incoming, { params: { ...path } });
  }
}

function textOf(answer: Answer): string {
  if (answer instanceof JsonText) return answer.text;
  if (answer instanceof StreamedAnswer) throw new TypeError("an answer in pieces is not compared");
  return JSON.stringify(answer);
}
