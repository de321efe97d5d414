import type { Operation } from "../../api/endpoints.ts";
import { type Command, isCausedByTime } from "../../core/commands.ts";
import { violations } from "../../core/invariants.ts";
import { nextDue } from "../../core/schedule.ts";
import { parseDuration } from "../../core/time.ts";
import type { Millis } from "../../core/units.ts";
import type { Accepted } from "../../engine/journal.ts";
import { defectFingerprint, invariantFingerprint } from "../../history/shrink/trial.ts";
import { firedIn } from "../../server/handlers/control.ts";
import {
  type AnswerReplay,
  type Journal,
  openReplay,
  type Reply,
  requireSame,
  statusName,
} from "./answer-replay.ts";
import {
  answerName,
  Contradiction,
  isInjected,
  type Observation,
  type ObservationLog,
  type SeenAnswer,
} from "./observation.ts";

/** Number of commands between checks of all invariants. */
const COMMANDS_PER_CHECK = 64;

/** A version of the exchange: the number of accepted commands, and virtual time. */
type Version = Pick<SeenAnswer, "sequence" | "time">;

const BEGINNING: Version = { sequence: 0, time: 0 };

/** For each request, the latest version in any answer that was received before it was sent. */
type Known = ReadonlyMap<Observation, Version>;

/**
 * Checks the order of the answers without a model of the exchange: each request has an answer, and no answer is older
 * than any answer received before its request was sent, or than the previous one on its connection.
 * @throws Contradiction
 */
function checkRealTime({ observations, mayLose }: ObservationLog): Known {
  const known = new Map<Observation, Version>();
  const onConnection = new Map<number, Version>();
  let latest = BEGINNING;
  const moments = observations.flatMap((observation) => {
    const { sent, answered, answer } = observation;
    const request = { order: sent, observation, answer: null };
    return answered === null ? [request] : [request, { order: answered, observation, answer }];
  });
  for (const { observation, answer } of moments.sort((a, b) => a.order - b.order)) {
    const { operation } = observation.request;
    if (answer === null) {
      known.set(observation, latest);
      if (observation.answer === null && mayLose.length === 0)
        throw Contradiction.about(observation, `no answer: ${operation}`, "had no answer");
      continue;
    }
    if (!(Number.isSafeInteger(answer.sequence) && Number.isSafeInteger(answer.time))) {
      const sentence = "has an answer without sequence and time";
      throw Contradiction.about(observation, `no sequence in the answer: ${operation}`, sentence);
    }
    const earlier = "another answer, received before it was sent,";
    requireNotOlder(observation, answer, known.get(observation) ?? BEGINNING, "real time", earlier);
    const last = onConnection.get(observation.client) ?? BEGINNING;
    requireNotOlder(observation, answer, last, "order of connection", "the previous answer there");
    onConnection.set(observation.client, answer);
    const { sequence, time } = answer;
    latest = { sequence: Math.max(latest.sequence, sequence), time: Math.max(latest.time, time) };
  }
  return known;
}

function requireNotOlder(
  observation: Observation,
  answer: SeenAnswer,
  known: Version,
  rule: "real time" | "order of connection",
  earlier: string,
): void {
  const field = (["sequence", "time"] as const).find((each) => answer[each] < known[each]);
  if (field === undefined) return;
  const kind = isInjected(answer) ? "injected fault" : observation.request.operation;
  const sentence = `answered ${field} ${answer[field]}, and ${earlier} ${field} ${known[field]}`;
  throw Contradiction.about(observation, `older ${field} against ${rule}: ${kind}`, sentence);
}

/** The operation that causes each kind of command. */
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
/** Operations whose answers do not depend on the exchange. */
const OF_SERVER: ReadonlySet<Operation> = new Set(["addFault", "removeFaults"]);

/** Whether the answer says that the request changed the exchange. A cancel without orders to cancel does not. */
function isAccepted({ request: { operation }, answer }: Observation): boolean {
  if (answer === null || answer.status !== 200 || !WRITES.has(operation)) return false;
  if (operation !== "cancelOrder" && operation !== "cancelAllOrders") return true;
  return !answer.body.startsWith('{"canceled":[]');
}

/** Whether a request may have made the exchange execute what was due although it changed nothing itself. */
const mayHaveSettled = (observation: Observation): boolean =>
  observation.answer !== null &&
  observation.request.method !== "GET" &&
  observation.request.operation !== "setClock" &&
  !isAccepted(observation);

/**
 * Checks the answers to changes of the frozen clock. Each change begins at the time set by the previous one, and lists
 * what became due since.
 */
function clockAnswers(start: number, entries: readonly Accepted[], observations: readonly Observation[]) {
  const changes = observations.filter(({ request }) => request.operation === "setClock");
  const isKnown = changes.every(({ answer }) => answer !== null);
  const set = changes.map(({ answer }) => answer?.time ?? start);
  /** All times that an answer may have; null if a clock change has no answer, so that they are unknown. */
  const times = isKnown ? new Set([start, ...entries.map(({ at }) => at), ...set]) : null;
  /** Sequences of answers to requests that changed nothing, but may have executed what was due. */
  const settledAt = new Set(observations.filter(mayHaveSettled).map(({ answer }) => answer?.sequence ?? 0));
  /** What no answer has listed yet. */
  const unlisted: FiredEvent[] = [];
  let now = start;
  return {
    mayShow: (time: number): boolean => times?.has(time) ?? true,
    /** Adds what became due with the command of a sequence. */
    addFired: (events: readonly object[], sequence: number): void => {
      const isOptional = settledAt.has(sequence);
      unlisted.push(...events.map((event) => ({ event, isOptional })));
    },
    /** Checks the answer to a clock change. `clock` is the reply about the clock then. @throws Contradiction */
    check: (observation: Observation, { body, time }: SeenAnswer, clock: object): void => {
      const { advance = "" } = JSON.parse(observation.request.body) as { readonly advance?: string };
      const to = now + (parseDuration(advance) ?? 0);
      now = time;
      if (times === null ? time < to : time !== to)
        throw Contradiction.about(
          observation,
          "wrong clock time",
          `moved the clock to ${time}, expected ${to}`,
        );
      const { fired: listed = [] } = JSON.parse(body) as { readonly fired?: readonly object[] };
      const fired = unlisted.splice(0);
      const bodyFrom = (first: number): string =>
        JSON.stringify({ ...clock, fired: requiredEvents(fired.slice(first), listed) });
      // A clock change without an answer may have listed the first events.
      for (let first = 0; first <= (times === null ? fired.length : 0); first += 1) {
        if (bodyFrom(first) === body) return;
      }
      throw Contradiction.about(
        observation,
        "clock lists other events",
        `expected ${bodyFrom(0)}, found ${body}`,
      );
    },
  };
}

/** An event as a clock change lists it; optional if another request may have caused it between two clock changes. */
type FiredEvent = Readonly<{ event: object; isOptional: boolean }>;

/** Returns the events that an answer must list: all but the optional ones that it does not list. */
function requiredEvents(fired: readonly FiredEvent[], listed: readonly object[]): readonly object[] {
  let next = 0;
  return fired.flatMap(({ event, isOptional }) => {
    const isListed = JSON.stringify(event) === JSON.stringify(listed[next]);
    if (isListed) next += 1;
    return isListed || !isOptional ? [event] : [];
  });
}

/** Replays a journal and compares each answer with the reply at the same sequence. */
class ReplayCheck {
  readonly #entries: readonly Accepted[];
  readonly #log: ObservationLog;
  readonly #known: Known;
  readonly #replay: AnswerReplay;
  readonly #clock: ReturnType<typeof clockAnswers>;
  readonly #first: number;
  /** Accepted requests, by the sequence of the command that each must have caused; 0 if there is no such command. */
  readonly #accepted = new Map<number, Observation[]>();
  /** Requests that caused no command (reads, refusals, cancels of nothing), by sequence of the answer. */
  readonly #others = new Map<number, Observation[]>();
  /** Requests without an answer, which may have been executed once. */
  readonly #unanswered = new Set<Observation>();

  constructor({ history: { origin, session } }: Journal, log: ObservationLog, known: Known) {
    this.#entries = session;
    this.#log = log;
    this.#known = known;
    this.#replay = openReplay(origin, log);
    this.#clock = clockAnswers(origin.start, session, log.observations);
    this.#first = this.#replay.exchange.sequence;
    const requested = this.#entries.filter(({ command }) => !isCausedByTime(command));
    for (const observation of log.observations) {
      const { answer, request } = observation;
      if (answer === null) {
        if (WRITES.has(request.operation)) this.#unanswered.add(observation);
      } else if (isAccepted(observation) && !isInjected(answer)) {
        // Commands that become due at the same time are executed between the request's command and its answer.
        const own = requested.findLast(({ sequence }) => sequence <= answer.sequence)?.sequence ?? 0;
        addTo(this.#accepted, own, observation);
      } else addTo(this.#others, answer.sequence, observation);
    }
    const timeOf = ({ answer }: Observation): number => answer?.time ?? 0;
    for (const list of this.#others.values()) list.sort((a, b) => timeOf(a) - timeOf(b));
  }

  /** @throws Contradiction */
  async run(): Promise<void> {
    const last = this.#first + this.#entries.length;
    const beyond = this.#log.observations.find(({ answer }) => (answer?.sequence ?? 0) > last);
    if (beyond !== undefined)
      throw Contradiction.ofAnswer(beyond, "beyond the journal", `, and the journal ends with ${last}`);
    this.#requireNoneLost(this.#accepted.get(0) ?? [], null);
    await this.#checkAnswersHere();
    for (let index = 0; index < this.#entries.length; index = this.#replayed()) {
      const entry = this.#entries[index] as Accepted;
      if (isCausedByTime(entry.command)) this.#replayDue(entry);
      else await this.#replayRequested(entry);
      await this.#checkAnswersHere();
      if (index % COMMANDS_PER_CHECK === 0) this.#checkInvariants();
    }
    const [left] = [...this.#others.values()].flat();
    if (left !== undefined)
      throw Contradiction.ofAnswer(left, "in the middle of a command", ", in the middle of a command");
    this.#checkInvariants();
    const { hash } = this.#replay.exchange;
    const { finalHash } = this.#log;
    if (finalHash === null || finalHash === hash) return;
    const sentence = `the server's state is ${finalHash} at the end, and the journal leads to ${hash}`;
    throw new Contradiction("another state at the end", sentence, null);
  }

  #replayed(): number {
    return this.#replay.exchange.sequence - this.#first;
  }

  /** Replays a command that became due, and requires that it was due then. */
  #replayDue(entry: Accepted): void {
    const { exchange } = this.#replay;
    const due = nextDue(exchange.state, entry.at);
    const isDue = due !== null && due.at === entry.at && sameCommand(due.command, entry.command);
    if (!isDue || entry.at < exchange.now) {
      const sentence = `sequence ${entry.sequence}, ${entry.command.kind}, was not due then`;
      throw new Contradiction(`not due: ${entry.command.kind}`, sentence, this.#firstThatShows(entry));
    }
    const decision = exchange.replay(entry);
    if (decision.ok) this.#clock.addFired(firedIn(exchange.state, entry.at, decision.events), entry.sequence);
  }

  /** Finds the one request that causes a command, and executes it. */
  async #replayRequested(entry: Accepted): Promise<void> {
    const { exchange } = this.#replay;
    const { kind } = entry.command;
    const acknowledged = this.#accepted.get(entry.sequence) ?? [];
    const early = acknowledged.find((each) => !this.#isBefore(each, entry));
    if (early !== undefined) {
      const shown = `other answers had shown sequence ${entry.sequence}, ${commandName(entry)}, before it was sent`;
      throw Contradiction.about(
        early,
        `seen before its request: ${kind}`,
        `${answerName(early)}, and ${shown}`,
      );
    }
    const unanswered = [...this.#unanswered].filter(
      (each) => each.request.operation === OPERATION_OF[kind] && this.#isBefore(each, entry),
    );
    const candidates = [...acknowledged, ...unanswered];
    exchange.setTime(entry.at);
    let reply: Reply | null = null;
    for (const candidate of candidates) {
      const before = candidates.length > 1 ? exchange.snapshot() : null;
      reply = await this.#replay.reply(candidate);
      const accepted = this.#replay.acceptedSince(entry.sequence - 1);
      if (accepted[0] !== undefined && sameCommand(accepted[0].command, entry.command)) {
        this.#checkExecuted(candidate, accepted, reply);
        const others = acknowledged.filter((each) => each !== candidate);
        return this.#requireNoneLost(others, entry);
      }
      if (before !== null) exchange.restore(before);
    }
    this.#requireNoneLost(acknowledged, entry, candidates.length > 1 ? null : reply);
    throw this.#unrequested(entry);
  }

  /** Requires that a request's answer, and the commands due after it, are those observed. */
  #checkExecuted(observation: Observation, accepted: readonly Accepted[], reply: Reply): void {
    this.#unanswered.delete(observation);
    const different = accepted.findIndex(({ command, at, sequence }) => {
      const recorded = this.#entries[sequence - this.#first - 1];
      return recorded === undefined || !sameCommand(recorded.command, command) || recorded.at !== at;
    });
    if (different > 0) {
      const kind = accepted[different]?.command.kind ?? "nothing";
      const sentence = `${kind} follows it, but not in the journal`;
      throw Contradiction.about(observation, `does not follow: ${kind}`, sentence);
    }
    if (observation.answer === null) return;
    requireSame(observation, reply);
    const { sequence, now } = this.#replay.exchange;
    if (observation.answer.sequence === sequence && observation.answer.time === now) return;
    const detail = ` and time ${observation.answer.time}, and its command leads to ${sequence} and time ${now}`;
    throw Contradiction.ofAnswer(observation, "another sequence or time", detail);
  }

  /** Requires that no acknowledged request is left over whose command is not in the journal. */
  #requireNoneLost([lost]: readonly Observation[], entry: Accepted | null, reply: Reply | null = null): void {
    if (lost === undefined) return;
    const there = entry === null ? "there is none" : `sequence ${entry.sequence} is ${commandName(entry)}`;
    const replayed = reply === null || reply.status === 200 ? "" : `; replayed it is ${statusName(reply)}`;
    const detail = `, and its command is not in the journal: ${there}${replayed}`;
    throw Contradiction.ofAnswer(lost, "acknowledged and lost", detail);
  }

  #unrequested(entry: Accepted): Contradiction {
    const { kind } = entry.command;
    const isTwice = this.#entries.some(
      ({ sequence, command }) => sequence < entry.sequence && sameCommand(command, entry.command),
    );
    const sentence = `sequence ${entry.sequence}, ${commandName(entry)}, was not caused by a request`;
    const [key, more] = isTwice
      ? ["executed twice", ", and the same command was executed before"]
      : ["without a request", ""];
    return new Contradiction(`${key}: ${kind}`, `${sentence}${more}`, this.#firstThatShows(entry));
  }

  /** Compares the answers at the current sequence with replies made now. */
  async #checkAnswersHere(): Promise<void> {
    const { exchange } = this.#replay;
    const here = this.#others.get(exchange.sequence) ?? [];
    this.#others.delete(exchange.sequence);
    const next = this.#entries[this.#replayed()]?.at ?? Number.POSITIVE_INFINITY;
    for (const observation of here) {
      const { answer, request } = observation;
      if (answer === null) continue;
      if (answer.time < exchange.now || answer.time > next || !this.#clock.mayShow(answer.time)) {
        throw Contradiction.ofAnswer(observation, "impossible time", ` and time ${answer.time}`);
      }
      if (isInjected(answer)) continue;
      exchange.setTime(answer.time as Millis);
      if (request.operation === "setClock") this.#clock.check(observation, answer, this.#replay.clock());
      else if (!OF_SERVER.has(request.operation))
        requireSame(observation, await this.#replay.reply(observation));
    }
  }

  #checkInvariants(): void {
    const [broken] = violations(this.#replay.exchange.state);
    if (broken === undefined) return;
    const { key, sentence } = invariantFingerprint(broken.name);
    throw Contradiction.inJournal({ key, sentence: `${sentence}: ${broken.differences[0] ?? ""}` });
  }

  /** Returns the first request whose answer is after an entry; null if there is none. */
  #firstThatShows({ sequence }: Accepted): Observation | null {
    return this.#log.observations.find(({ answer }) => (answer?.sequence ?? 0) >= sequence) ?? null;
  }

  /** Whether a request was sent before any answer showed a command. */
  #isBefore(observation: Observation, { sequence }: Accepted): boolean {
    return (this.#known.get(observation)?.sequence ?? 0) < sequence;
  }
}

function addTo(lists: Map<number, Observation[]>, sequence: number, observation: Observation): void {
  const list = lists.get(sequence);
  if (list === undefined) lists.set(sequence, [observation]);
  else list.push(observation);
}

const sameCommand = (a: Command, b: Command): boolean => JSON.stringify(a) === JSON.stringify(b);

const commandName = ({ command }: Accepted): string =>
  "address" in command ? `${command.kind} of ${command.address}` : command.kind;

/**
 * Checks that the observations of clients are one history (linearizability). The replayed journal must answer each
 * request at the sequence of its answer with the same bytes. Exactly one request must have caused each requested command.
 * No answer may be older than an answer received before its request was sent, or show a command before its request.
 * Returns the first contradiction; null if there is none.
 */
export async function check(journal: Journal, log: ObservationLog): Promise<Contradiction | null> {
  try {
    if (journal.problem !== null) throw Contradiction.inJournal(defectFingerprint(journal.problem));
    await new ReplayCheck(journal, log, checkRealTime(log)).run();
    return null;
  } catch (error) {
    if (error instanceof Contradiction) return error;
    throw error;
  }
}
