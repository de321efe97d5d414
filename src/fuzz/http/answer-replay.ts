import { Buffer } from "node:buffer";
import { Socket } from "node:net";
import { endpointOf } from "../../api/endpoints.ts";
import { ApiError, errorBody } from "../../api/errors.ts";
import { newCaches, serviceOf } from "../../compose.ts";
import { DEFAULT_CONFIG } from "../../config.ts";
import { withoutFigures } from "../../core/format.ts";
import type { Accepted } from "../../engine/journal.ts";
import { openingIn } from "../../engine/journal-scan.ts";
import { MemoryFile } from "../../engine/memory-disk.ts";
import { openAtOrigin } from "../../engine/open-exchange.ts";
import type { Origin } from "../../engine/origin.ts";
import { type ReplayedHistory, replayHistory } from "../../history/journal-replay.ts";
import { defectFingerprint } from "../../history/shrink/trial.ts";
import { differences } from "../../scenario/run/result.ts";
import { clockReply } from "../../server/handlers/control.ts";
import { Incoming, JsonText, StreamedAnswer } from "../../server/messages.ts";
import { answerOf } from "../../server/router.ts";
import {
  answerName,
  Contradiction,
  type Observation,
  type ObservationLog,
  type SeenAnswer,
  type SentRequest,
} from "./observation.ts";

const NAME = "the report";

/** The journal of a session and its replay. */
export type Journal = ReturnType<typeof readJournal>;

/** Reads and replays a report or a journal. @throws DataFileError if it is neither. */
export function readJournal(bytes: Uint8Array) {
  const file = new MemoryFile(Buffer.from(bytes));
  const opening = openingIn(file);
  if (opening === null) throw new Error("the report has no complete first line");
  const history = replayHistory({ path: NAME, name: NAME, isFolder: false, file, opening });
  return { history, problem: problemOf(history) };
}

/** Describes what is wrong with a journal itself; null if it replays as recorded. */
function problemOf({ end: { problem, scan }, failing, exchange }: ReplayedHistory): string | null {
  if (failing !== null)
    return `${failing.command.kind} makes the exchange fail: ${messageOf(exchange.thrown?.error)}`;
  if (problem !== null)
    return `line ${problem.line.n}, ${problem.line.k}, ${problem.result.kind} when it is decided again`;
  return scan.damage === null ? null : "a line is damaged";
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export type Reply = Pick<SeenAnswer, "status" | "body">;

/** Formats a status with the error code of its body: `400 INVALID_SIZE`. */
export function statusName({ status, body }: Reply): string {
  const code = status === 200 ? undefined : /"code":"(\w+)"/.exec(body)?.[1];
  return code === undefined ? String(status) : `${status} ${code}`;
}

/** @throws Contradiction if the observed answer differs from the reply of the replay. */
export function requireSame(observation: Observation, reply: Reply): void {
  const { answer, request } = observation;
  if (answer === null || (answer.status === reply.status && answer.body === reply.body)) return;
  const [found, expected] = [statusName(answer), statusName(reply)];
  if (found !== expected) {
    throw Contradiction.about(
      observation,
      `another status: ${request.operation} ${found}, replayed ${expected}`,
      `${answerName(observation)} (${found}), and ${expected} when replayed`,
    );
  }
  const [replayed, observed] = [parsed(reply.body), parsed(answer.body)];
  const [missing] = differences(replayed, observed);
  const [extra] = differences(observed, replayed);
  const difference = missing ?? { path: extra?.path ?? "answer", wanted: extra?.seen, seen: extra?.wanted };
  // Without list indexes and ids used as field names, so that the same failure has the same fingerprint.
  const path = withoutFigures(difference.path).replace(/\[#\]/g, "[]");
  throw Contradiction.about(
    observation,
    `another answer: ${request.operation} ${found}: ${path}`,
    `${answerName(observation)}; ${difference.path} is ${difference.wanted} when replayed, found ${difference.seen}`,
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export type AnswerReplay = ReturnType<typeof openReplay>;

/**
 * Opens an exchange in memory on which a history is replayed, as at its beginning. In between it answers requests with the
 * server's handlers, without a connection and without caches of earlier answers.
 */
export function openReplay(origin: Origin, { numbers }: Pick<ObservationLog, "numbers">) {
  const config = { ...DEFAULT_CONFIG, clock: { mode: "frozen" }, logLevel: "silent", numbers } as const;
  const opened = openAtOrigin(config, origin);
  const service = serviceOf(config, opened);
  const socket = new Socket();
  return {
    exchange: opened.exchange,
    /** Returns the commands accepted after a sequence, including those that became due at the same time. */
    acceptedSince: (sequence: number): readonly Accepted[] =>
      (opened.session.entries ?? []).filter((entry) => entry.sequence > sequence),
    /** Returns the reply about the clock, without the list of what became due. */
    clock: (): object => clockReply(service),
    /** Executes a request at the current state and returns its reply. @throws Contradiction if a handler fails. */
    reply: async (observation: Observation): Promise<Reply> => {
      const { request, answer } = observation;
      const endpoint = endpointOf(request.operation);
      const uncached = { ...service, ...newCaches() };
      const body = Buffer.from(request.body);
      try {
        const answered = await answerOf(uncached, endpoint, incomingOf(request, socket), body);
        if (answered instanceof StreamedAnswer) throw new TypeError("streamed answers are not compared");
        return { status: 200, body: answered instanceof JsonText ? answered.text : JSON.stringify(answered) };
      } catch (error) {
        if (!(error instanceof ApiError))
          throw Contradiction.inJournal(defectFingerprint(messageOf(error)), observation);
        return { status: error.status, body: JSON.stringify(errorBody(error, answer?.requestId ?? "")) };
      }
    },
  };
}

function incomingOf({ method, target, headers, path }: SentRequest, socket: Socket) {
  const incoming = new Incoming(socket);
  incoming.method = method;
  incoming.url = target;
  incoming.rawHeaders = [...headers];
  for (let index = 0; index < headers.length; index += 2)
    incoming.headers[String(headers[index])] = String(headers[index + 1]);
  return Object.assign(incoming, { params: { ...path } });
}
