import { type Finding, found, requestName } from "./finding.ts";
import { isInjected, type Observation, type ObservationLog, type SeenAnswer } from "./observation.ts";

/** A place in a history: how many commands had been accepted, and virtual time. */
export type Version = Pick<SeenAnswer, "sequence" | "time">;

const BEGINNING: Version = { sequence: 0, time: 0 };

/** What was known of the history when each request was sent: the latest that any answer had shown by then. */
export type Known = ReadonlyMap<Observation, Version>;

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
