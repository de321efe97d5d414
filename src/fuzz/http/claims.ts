import { Buffer } from "node:buffer";
import type { Operation } from "../../api/endpoints.ts";
import { VERSION } from "../../config.ts";
import { type Command, isCausedByTime } from "../../core/commands.ts";
import type { Entry } from "../../engine/journal.ts";
import { openingIn } from "../../engine/journal-scan.ts";
import { type Origin, originOf } from "../../engine/origin.ts";
import { type WholeHistory, wholeHistory } from "../../history/journal-replay.ts";
import { inMemory } from "../../history/report.ts";
import {
  type Finding,
  found,
  isInjected,
  type Observation,
  type ObservationLog,
  requestName,
  type SeenAnswer,
} from "./observation.ts";

/** What a server kept or reported of its session, decided anew. */
export interface Journal {
  readonly origin: Origin;
  readonly history: WholeHistory;
  /** What is wrong with it by itself, in a sentence; null where it replays as it was recorded. */
  readonly trouble: string | null;
}

const NAME = "the report";

/** Reads a report, or a data directory's journal. @throws StoreError when it is neither. */
export function readJournal(bytes: Uint8Array): Journal {
  const file = inMemory(Buffer.from(bytes));
  const opening = openingIn(file);
  if (opening === null) throw new Error("the report has no whole first line");
  const source = { path: NAME, name: NAME, isFolder: false, file, opening };
  const history = wholeHistory(source, VERSION);
  return { origin: originOf(opening, NAME), history, trouble: troubleOf(history) };
}

function troubleOf({ end, failing, exchange }: WholeHistory): string | null {
  const { trouble, scan } = end;
  if (failing !== null)
    return `${failing.command.kind} makes the exchange fail: ${messageOf(exchange.thrown?.error)}`;
  if (trouble !== null)
    return `line ${trouble.line.n}, ${trouble.line.k}, ${trouble.outcome.kind} when it is decided again`;
  return scan.damage === null ? null : "a line is damaged";
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A place in a history: how many commands had been accepted, and virtual time. */
type Version = Pick<SeenAnswer, "sequence" | "time">;

const BEGINNING: Version = { sequence: 0, time: 0 };

/** What was known of the history when each request was sent: the latest that any answer had shown by then. */
type Known = ReadonlyMap<Observation, Version>;

/** A request that was sent, or an answer that came. */
interface Happening {
  readonly order: number;
  readonly observation: Observation;
  readonly index: number;
  /** Null where a request was sent. */
  readonly answer: SeenAnswer | null;
}

/**
 * Holds the answers against real time, without any knowledge of the exchange: each request has an answer, an answer is
 * no older than what anybody had been answered before its request was sent, and no older than the one before it on its
 * connection.
 */
export function checkRealTime({ observations, mayLose }: ObservationLog): {
  readonly finding: Finding | null;
  readonly known: Known;
} {
  const known = new Map<Observation, Version>();
  const onConnection = new Map<number, Version>();
  let latest = BEGINNING;
  let finding: Finding | null = null;
  const note = (next: Finding | null): void => {
    finding ??= next;
  };
  for (const { observation, index, answer } of happenings(observations)) {
    if (answer === null) {
      known.set(observation, latest);
      if (observation.answer === null && mayLose.length === 0) note(unanswered(observation, index));
      continue;
    }
    if (!(Number.isSafeInteger(answer.sequence) && Number.isSafeInteger(answer.time))) {
      note(withoutPlace(observation, index));
      continue;
    }
    note(older(observation, index, answer, known.get(observation) ?? BEGINNING, "real time"));
    const before = onConnection.get(observation.client) ?? BEGINNING;
    note(older(observation, index, answer, before, "order of connection"));
    onConnection.set(observation.client, answer);
    latest = later(latest, answer);
  }
  return { finding, known };
}

/** Both of each, in the order in which they happened. */
function happenings(observations: readonly Observation[]): Happening[] {
  const all = observations.flatMap((observation, index): Happening[] => {
    const { sent, answered, answer } = observation;
    const asked = { order: sent, observation, index, answer: null };
    return answered === null || answer === null
      ? [asked]
      : [asked, { order: answered, observation, index, answer }];
  });
  return all.sort((a, b) => a.order - b.order);
}

const later = (a: Version, b: Version): Version => ({
  sequence: Math.max(a.sequence, b.sequence),
  time: Math.max(a.time, b.time),
});

function older(
  observation: Observation,
  index: number,
  answer: SeenAnswer,
  known: Version,
  rule: "real time" | "order of connection",
): Finding | null {
  const isOlder = answer.sequence < known.sequence;
  if (!isOlder && answer.time >= known.time) return null;
  const what = isOlder ? "sequence" : "time";
  const than =
    rule === "real time"
      ? "another answer, which had come before it was sent,"
      : "the answer before it there";
  const kind = isInjected(answer) ? "injected fault" : observation.request.operation;
  return found(
    `older ${what} against ${rule}: ${kind}`,
    `${requestName(observation)} answered ${what} ${answer[what]}, and ${than} ${what} ${known[what]}`,
    index,
  );
}

const unanswered = (observation: Observation, index: number): Finding =>
  found(`no answer: ${observation.request.operation}`, `${requestName(observation)} had no answer`, index);

const withoutPlace = (observation: Observation, index: number): Finding =>
  found(
    `no sequence in the answer: ${observation.request.operation}`,
    `${requestName(observation)}: the answer says neither sequence nor time`,
    index,
  );

/** The requests that commands come from, by the kind of command. */
const OPERATION_OF: Partial<Readonly<Record<Command["kind"], Operation>>> = {
  placeOrder: "placeOrder",
  cancelOrder: "cancelOrder",
  cancelAllOrders: "cancelAllOrders",
  deriveCredentials: "deriveApiKey",
  fundAccount: "fundAccount",
  createEvent: "createEvent",
  createMarket: "createMarket",
  closeMarket: "closeMarket",
  resolveMarket: "resolveMarket",
};
const WRITES: ReadonlySet<Operation> = new Set(Object.values(OPERATION_OF));

/** Whether an answer says that the request has changed the exchange: a cancel that finds nothing to cancel does not. */
export function isAccepted({ request: { operation }, answer }: Observation): boolean {
  if (answer === null || answer.status !== 200 || !WRITES.has(operation)) return false;
  if (operation !== "cancelOrder" && operation !== "cancelAllOrders") return true;
  return !answer.body.startsWith('{"canceled":[]');
}

/** A sequence before all commands. */
const NONE = 0;

/** Which requests may have led to which accepted command. */
export class Claims {
  /** Requests that were answered as accepted, by the sequence of the command that must be theirs. */
  readonly #answered = new Map<number, Observation[]>();
  /** Requests without an answer, which may have been carried out, once. */
  readonly #unanswered: Set<Observation>;
  readonly #known: Known;

  constructor(entries: readonly Entry[], observations: readonly Observation[], known: Known) {
    this.#known = known;
    this.#unanswered = new Set(
      observations.filter(({ answer, request }) => answer === null && WRITES.has(request.operation)),
    );
    const asked = entries.filter(({ command }) => !isCausedByTime(command)).map(({ sequence }) => sequence);
    for (const observation of observations) {
      const { answer } = observation;
      if (answer === null || isInjected(answer) || !isAccepted(observation)) continue;
      // What time causes at the same moment follows the command before the answer is made.
      const own = asked.findLast((sequence) => sequence <= answer.sequence) ?? NONE;
      this.#answered.set(own, [...(this.#answered.get(own) ?? []), observation]);
    }
  }

  /** Accepted requests before whose answers no command was accepted at all. */
  get withoutCommand(): readonly Observation[] {
    return this.#answered.get(NONE) ?? [];
  }

  /** The requests whose answers say that this command is theirs. */
  answered({ sequence }: Entry): readonly Observation[] {
    return this.#answered.get(sequence) ?? [];
  }

  /** The requests without an answer that may have led to a command: sent before it could be seen. */
  unanswered({ sequence, command }: Entry): readonly Observation[] {
    const operation = OPERATION_OF[command.kind];
    return [...this.#unanswered].filter(
      (observation) =>
        observation.request.operation === operation && this.#knownBefore(observation) < sequence,
    );
  }

  /** The request without an answer has led to a command: it leads to no other. */
  take(observation: Observation): void {
    this.#unanswered.delete(observation);
  }

  /** Whether a command was accepted after the request was sent. */
  isAfter(observation: Observation, { sequence }: Entry): boolean {
    return sequence > this.#knownBefore(observation);
  }

  #knownBefore(observation: Observation): number {
    return this.#known.get(observation)?.sequence ?? 0;
  }
}
