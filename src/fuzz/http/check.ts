import type { Operation } from "../../api/endpoints.ts";
import { type Command, isCausedByTime } from "../../core/commands.ts";
import { violations } from "../../core/invariants/invariants.ts";
import { nextDue } from "../../core/schedule.ts";
import { parseDuration } from "../../core/time.ts";
import type { Entry } from "../../engine/journal.ts";
import { brokenInvariant, defectOf } from "../../history/shrink/fingerprint.ts";
import { firedIn } from "../../server/handlers/control.ts";
import { AnswerAgain, type Journal, type Reply, requireSame, statusName } from "./answers.ts";
import {
  answerName,
  Finding,
  isInjected,
  type Observation,
  type ObservationLog,
  type SeenAnswer,
} from "./observation.ts";

/** After so many commands every invariant is judged. */
const JUDGED_EVERY = 64;

/** A place in a history: how many commands had been accepted, and virtual time. */
type Version = Pick<SeenAnswer, "sequence" | "time">;

const BEGINNING: Version = { sequence: 0, time: 0 };

/** What was known of the history when each request was sent: the latest that any answer had shown by then. */
type Known = ReadonlyMap<Observation, Version>;

/**
 * Holds the answers against real time, without any knowledge of the exchange: each request has an answer, an answer is
 * no older than what anybody had been answered before its request was sent, and no older than the one before it on its
 * connection. @throws Finding
 */
function checkRealTime({ observations, mayLose }: ObservationLog): Known {
  const known = new Map<Observation, Version>();
  const onConnection = new Map<number, Version>();
  let latest = BEGINNING;
  const requests = observations.map((seen) => ({ order: seen.sent, seen, answer: null }));
  const answers = observations.flatMap((seen) =>
    seen.answered === null || seen.answer === null
      ? []
      : [{ order: seen.answered, seen, answer: seen.answer }],
  );
  for (const { seen, answer } of [...requests, ...answers].sort((a, b) => a.order - b.order)) {
    const { operation } = seen.request;
    if (answer === null) {
      known.set(seen, latest);
      if (seen.answer === null && mayLose.length === 0)
        throw Finding.about(seen, `no answer: ${operation}`, "had no answer");
      continue;
    }
    if (!(Number.isSafeInteger(answer.sequence) && Number.isSafeInteger(answer.time))) {
      const sentence = "is answered with neither sequence nor time";
      throw Finding.about(seen, `no sequence in the answer: ${operation}`, sentence);
    }
    const before = "another answer, which had come before it was sent,";
    requireNotOlder(seen, answer, known.get(seen) ?? BEGINNING, "real time", before);
    const last = onConnection.get(seen.client) ?? BEGINNING;
    requireNotOlder(seen, answer, last, "order of connection", "the answer before it there");
    onConnection.set(seen.client, answer);
    const { sequence, time } = answer;
    latest = { sequence: Math.max(latest.sequence, sequence), time: Math.max(latest.time, time) };
  }
  return known;
}

function requireNotOlder(
  seen: Observation,
  answer: SeenAnswer,
  known: Version,
  rule: "real time" | "order of connection",
  than: string,
): void {
  const what = (["sequence", "time"] as const).find((part) => answer[part] < known[part]);
  if (what === undefined) return;
  const kind = isInjected(answer) ? "injected fault" : seen.request.operation;
  const sentence = `answered ${what} ${answer[what]}, and ${than} ${what} ${known[what]}`;
  throw Finding.about(seen, `older ${what} against ${rule}: ${kind}`, sentence);
}

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
/** What they answer depends on requests alone, not on the exchange. */
const OF_THE_EDGE: ReadonlySet<Operation> = new Set(["addFault", "removeFaults"]);

/** Whether an answer says that the request has changed the exchange: a cancel that finds nothing to cancel does not. */
function isAccepted({ request: { operation }, answer }: Observation): boolean {
  if (answer === null || answer.status !== 200 || !WRITES.has(operation)) return false;
  if (operation !== "cancelOrder" && operation !== "cancelAllOrders") return true;
  return !answer.body.startsWith('{"canceled":[]');
}

/** Whether a request was refused, or changed nothing, after the exchange had looked at it: what is due then is done first. */
const mayHaveTried = (seen: Observation): boolean =>
  seen.answer !== null &&
  seen.request.method !== "GET" &&
  seen.request.operation !== "setClock" &&
  !isAccepted(seen);

interface Due {
  /** As an answer about the clock names it. */
  readonly what: object;
  /** Whether somebody else's request may have brought it, between two steps of the clock: then no answer names it. */
  readonly mayBeOthers: boolean;
}

/**
 * What a frozen clock must have answered to those who moved it. Changes of the clock come one after the other: each
 * begins at the time that the one before it has set, and names what became due since.
 */
class ClockAnswers {
  /** Every time at which an answer may be made; null where a change of the clock has no answer, so that nobody knows. */
  readonly #moments: ReadonlySet<number> | null;
  /** What became due, and has not been named yet. */
  #due: Due[] = [];
  /** The sequences at which requests were answered that changed nothing, but may have brought what was due. */
  readonly #triedAt: ReadonlySet<number>;
  #time: number;

  constructor(start: number, entries: readonly Entry[], observations: readonly Observation[]) {
    this.#time = start;
    const changes = observations.filter(({ request }) => request.operation === "setClock");
    const set = changes.map(({ answer }) => answer?.time ?? start);
    const isKnown = changes.every(({ answer }) => answer !== null);
    this.#moments = isKnown ? new Set([start, ...entries.map(({ at }) => at), ...set]) : null;
    this.#triedAt = new Set(observations.filter(mayHaveTried).map(({ answer }) => answer?.sequence ?? 0));
  }

  /** Whether an answer may be made at a time. */
  mayShow(time: number): boolean {
    return this.#moments?.has(time) ?? true;
  }

  /** Notes what became due with the command of a sequence. */
  fired(what: readonly object[], sequence: number): void {
    const mayBeOthers = this.#triedAt.has(sequence);
    this.#due.push(...what.map((each) => ({ what: each, mayBeOthers })));
  }

  /** Judges the answer to a change; `clock` is what the clock says of itself there. @throws Finding */
  check(seen: Observation, { body, time }: SeenAnswer, clock: object): void {
    const { advance = "" } = JSON.parse(seen.request.body) as { readonly advance?: string };
    const to = this.#time + (parseDuration(advance) ?? 0);
    this.#time = time;
    if (this.#moments === null ? time < to : time !== to)
      throw Finding.about(seen, "clock elsewhere", `moved the clock to ${time}, expected ${to}`);
    const { fired = [] } = JSON.parse(body) as { readonly fired?: readonly object[] };
    const due = this.#due.splice(0);
    const bodyFrom = (start: number): string =>
      JSON.stringify({ ...clock, fired: named(due.slice(start), fired).map(({ what }) => what) });
    // A change without an answer may have been the one to name what became due first.
    for (let start = 0; start <= (this.#moments === null ? due.length : 0); start += 1) {
      if (bodyFrom(start) === body) return;
    }
    throw Finding.about(seen, "clock names other events", `expected ${bodyFrom(0)}, found ${body}`);
  }
}

/** What of all that became due an answer must name, where it names these: whatever it leaves out may be others'. */
function named(due: readonly Due[], fired: readonly object[]): readonly Due[] {
  let next = 0;
  return due.filter(({ what, mayBeOthers }) => {
    const isNamed = JSON.stringify(what) === JSON.stringify(fired[next]);
    if (isNamed) next += 1;
    return isNamed || !mayBeOthers;
  });
}

/** Decides a journal again and holds each answer, where it was made, against what is answered there. */
class ReplayCheck {
  readonly #entries: readonly Entry[];
  readonly #log: ObservationLog;
  readonly #known: Known;
  readonly #again: AnswerAgain;
  readonly #clock: ClockAnswers;
  readonly #first: number;
  /** Requests that were answered as accepted, by the sequence of the command that must be theirs; 0 before all. */
  readonly #accepted = new Map<number, Observation[]>();
  /** Answers that come with no command of their own, by sequence: reads, refusals, and what changed nothing. */
  readonly #others = new Map<number, Observation[]>();
  /** Requests without an answer, which may have been carried out, once. */
  readonly #unanswered = new Set<Observation>();

  constructor({ origin, history }: Journal, log: ObservationLog, known: Known) {
    this.#entries = history.session;
    this.#log = log;
    this.#known = known;
    this.#again = new AnswerAgain(origin, log);
    this.#clock = new ClockAnswers(origin.start, history.session, log.observations);
    this.#first = this.#again.exchange.sequence;
    const asked = this.#entries.filter(({ command }) => !isCausedByTime(command));
    for (const seen of log.observations) {
      const { answer, request } = seen;
      if (answer === null) {
        if (WRITES.has(request.operation)) this.#unanswered.add(seen);
      } else if (isAccepted(seen) && !isInjected(answer)) {
        // What time causes at the same moment follows the command before the answer is made.
        const own = asked.findLast(({ sequence }) => sequence <= answer.sequence)?.sequence ?? 0;
        addTo(this.#accepted, own, seen);
      } else addTo(this.#others, answer.sequence, seen);
    }
    const timeOf = ({ answer }: Observation): number => answer?.time ?? 0;
    for (const list of this.#others.values()) list.sort((a, b) => timeOf(a) - timeOf(b));
  }

  /** @throws Finding */
  async run(): Promise<void> {
    this.#requireInJournal();
    this.#refuseLost(this.#accepted.get(0) ?? [], null);
    await this.#answerHere();
    for (let index = 0; index < this.#entries.length; index = this.#reached()) {
      const entry = this.#entries[index] as Entry;
      if (isCausedByTime(entry.command)) this.#pass(entry);
      else await this.#ask(entry);
      await this.#answerHere();
      if (index % JUDGED_EVERY === 0) this.#judge();
    }
    for (const [seen] of this.#others.values()) {
      if (seen === undefined) continue;
      const sentence = `${answerName(seen)}, where nobody is answered: in the middle of a command`;
      throw Finding.about(seen, `in the middle of a command: ${seen.request.operation}`, sentence);
    }
    this.#judge();
    const { hash } = this.#again.exchange;
    const { finalHash } = this.#log;
    if (finalHash === null || finalHash === hash) return;
    const sentence = `the server's state is ${finalHash} at the end, and the journal leads to ${hash}`;
    throw new Finding("another state at the end", sentence, null);
  }

  /** How many entries the exchange stands behind. */
  #reached(): number {
    return this.#again.exchange.sequence - this.#first;
  }

  /** No answer has a sequence that the journal does not reach. */
  #requireInJournal(): void {
    const last = this.#first + this.#entries.length;
    const seen = this.#log.observations.find(({ answer }) => (answer?.sequence ?? 0) > last);
    if (seen === undefined) return;
    const sentence = `${answerName(seen)}, and the journal ends with ${last}`;
    throw Finding.about(seen, `beyond the journal: ${seen.request.operation}`, sentence);
  }

  /** What time caused must be what was due then. */
  #pass(entry: Entry): void {
    const { exchange } = this.#again;
    const due = nextDue(exchange.state, entry.at);
    const isDue = due !== null && due.at === entry.at && sameCommand(due.command, entry.command);
    if (!isDue || entry.at < exchange.now) {
      const sentence = `sequence ${entry.sequence}, ${entry.command.kind}, was not due then`;
      throw new Finding(`not due: ${entry.command.kind}`, sentence, this.#firstThatShows(entry));
    }
    const decision = exchange.replay(entry);
    if (decision.ok) this.#clock.fired(firedIn(exchange.state, entry.at, decision.events), entry.sequence);
  }

  /** A command that somebody asked for: one request, and no other, must lead to it here. */
  async #ask(entry: Entry): Promise<void> {
    const { exchange } = this.#again;
    const { kind } = entry.command;
    const claimants = this.#accepted.get(entry.sequence) ?? [];
    const early = claimants.find((claimant) => !this.#isBefore(claimant, entry));
    if (early !== undefined) {
      const shown = `other answers had shown sequence ${entry.sequence}, ${commandName(entry)}, before it was sent`;
      throw Finding.about(
        early,
        `seen before it was asked for: ${kind}`,
        `${answerName(early)}, and ${shown}`,
      );
    }
    const unanswered = [...this.#unanswered].filter(
      (seen) => seen.request.operation === OPERATION_OF[kind] && this.#isBefore(seen, entry),
    );
    const candidates = [...claimants, ...unanswered];
    this.#again.passTo(entry.at);
    let reply: Reply | null = null;
    for (const candidate of candidates) {
      const before = candidates.length > 1 ? exchange.snapshot() : null;
      reply = await this.#again.reply(candidate);
      const accepted = this.#again.acceptedSince(entry.sequence - 1);
      if (accepted[0] !== undefined && sameCommand(accepted[0].command, entry.command)) {
        this.#take(candidate, entry, accepted, reply);
        const others = claimants.filter((claimant) => claimant !== candidate);
        this.#refuseLost(others, entry);
        return;
      }
      if (before !== null) exchange.restore(before);
    }
    this.#refuseLost(claimants, entry, candidates.length > 1 ? null : reply);
    this.#refuseUnasked(entry);
  }

  /** A command has found its request: the answer must be the one given then, and what follows what followed. */
  #take(seen: Observation, entry: Entry, accepted: readonly Entry[], reply: Reply): void {
    this.#unanswered.delete(seen);
    const offset = entry.sequence - this.#first - 1;
    const different = accepted.findIndex(({ command, at }, index) => {
      const recorded = this.#entries[offset + index];
      return recorded === undefined || !sameCommand(recorded.command, command) || recorded.at !== at;
    });
    if (different > 0) {
      const kind = accepted[different]?.command.kind ?? "nothing";
      throw Finding.about(seen, `does not follow: ${kind}`, `${kind} follows it, and not in the journal`);
    }
    if (seen.answer === null) return;
    requireSame(seen, reply);
    const { sequence, now } = this.#again.exchange;
    if (seen.answer.sequence === sequence && seen.answer.time === now) return;
    const place = `its command leads to ${sequence} and time ${now}`;
    throw Finding.about(
      seen,
      `another place: ${seen.request.operation}`,
      `${answerName(seen)} and time ${seen.answer.time}, and ${place}`,
    );
  }

  /** Requests that were acknowledged, and whose command is another one's, or nobody's. */
  #refuseLost([seen]: readonly Observation[], entry: Entry | null, reply: Reply | null = null): void {
    if (seen === undefined) return;
    const there = entry === null ? "there is none" : `sequence ${entry.sequence} is ${commandName(entry)}`;
    const again =
      reply === null || reply.status === 200 ? "" : `; made again there it is ${statusName(reply)}`;
    throw Finding.about(
      seen,
      `acknowledged and lost: ${seen.request.operation}`,
      `${answerName(seen)}, and its command is not in the journal: ${there}${again}`,
    );
  }

  #refuseUnasked(entry: Entry): never {
    const { kind } = entry.command;
    const isTwice = this.#entries.some(
      ({ sequence, command }) => sequence < entry.sequence && sameCommand(command, entry.command),
    );
    const sentence = `sequence ${entry.sequence}, ${commandName(entry)}, has no request that led to it`;
    throw new Finding(
      isTwice ? `carried out twice: ${kind}` : `nobody asked: ${kind}`,
      isTwice ? `${sentence}, and the same was carried out before` : sentence,
      this.#firstThatShows(entry),
    );
  }

  /** Makes the answers again that were made where the history stands. */
  async #answerHere(): Promise<void> {
    const { exchange } = this.#again;
    const here = this.#others.get(exchange.sequence) ?? [];
    this.#others.delete(exchange.sequence);
    const next = this.#entries[this.#reached()]?.at ?? Number.POSITIVE_INFINITY;
    for (const seen of here) {
      const { answer, request } = seen;
      if (answer === null) continue;
      if (answer.time < exchange.now || answer.time > next || !this.#clock.mayShow(answer.time)) {
        const sentence = `${answerName(seen)} and time ${answer.time}`;
        throw Finding.about(seen, `impossible time: ${request.operation}`, sentence);
      }
      if (isInjected(answer)) continue;
      this.#again.passTo(answer.time);
      if (request.operation === "setClock") this.#clock.check(seen, answer, this.#again.clock());
      else if (!OF_THE_EDGE.has(request.operation)) requireSame(seen, await this.#again.reply(seen));
    }
  }

  #judge(): void {
    const [broken] = violations(this.#again.exchange.state);
    if (broken === undefined) return;
    const { key, sentence } = brokenInvariant(broken.name);
    throw Finding.ofHistory({ key, sentence: `${sentence}: ${broken.differences[0] ?? ""}` });
  }

  /** The first request whose answer shows an entry. */
  #firstThatShows({ sequence }: Entry): Observation | null {
    return this.#log.observations.find(({ answer }) => (answer?.sequence ?? 0) >= sequence) ?? null;
  }

  /** Whether a request was sent before anybody could see a command. */
  #isBefore(seen: Observation, { sequence }: Entry): boolean {
    return (this.#known.get(seen)?.sequence ?? 0) < sequence;
  }
}

function addTo(lists: Map<number, Observation[]>, sequence: number, seen: Observation): void {
  const list = lists.get(sequence);
  if (list === undefined) lists.set(sequence, [seen]);
  else list.push(seen);
}

const sameCommand = (a: Command, b: Command): boolean => JSON.stringify(a) === JSON.stringify(b);

const commandName = ({ command }: Entry): string =>
  "address" in command ? `${command.kind} of ${command.address}` : command.kind;

/**
 * Proves that what clients saw of an exchange is one history: the journal, decided again, answers each request at the
 * sequence of its answer as it was answered, byte by byte; each accepted command was asked for once; no answer is older
 * than what was known before its request was sent, nor newer than what had been asked for when it came. Answers the
 * first that is wrong, or null. Reads nothing but its arguments.
 */
export async function check(journal: Journal, log: ObservationLog): Promise<Finding | null> {
  try {
    if (journal.trouble !== null) throw Finding.ofHistory(defectOf(journal.trouble));
    await new ReplayCheck(journal, log, checkRealTime(log)).run();
    return null;
  } catch (error) {
    if (error instanceof Finding) return error;
    throw error;
  }
}
