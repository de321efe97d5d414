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
import { HANDLERS } from "../../server/handlers/all.ts";
import { clockReply } from "../../server/handlers/control.ts";
import { type AnyHandler, answerOf } from "../../server/router.ts";
import type { Service } from "../../server/service.ts";
import { type Answer, Incoming, JsonText, Pieces } from "../../server/service.ts";
import type { ObservationLog, SentRequest } from "./observation.ts";

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
