import { type Command, isCausedByTime } from "../../core/commands.ts";
import { violations } from "../../core/invariants/invariants.ts";
import { nextDue } from "../../core/schedule.ts";
import { firedIn } from "../../http/routes/clock.ts";
import type { Entry } from "../../runtime/journal.ts";
import { brokenInvariant, defectOf } from "../../scenario/shrink/signature.ts";
import type { Operation } from "../../wire/endpoints/all.ts";
import { AnswerAgain, type Reply } from "./answer-again.ts";
import { Claims, isAccepted } from "./claims.ts";
import { ClockAnswers } from "./clock-answers.ts";
import { firstDifference, pathKey } from "./difference.ts";
import { answerName, type Finding, found, requestName } from "./finding.ts";
import type { Journal } from "./journal.ts";
import { isInjected, type Observation, type ObservationLog } from "./observation.ts";
import { checkRealTime } from "./real-time.ts";

/** After so many commands every invariant is judged. */
const JUDGED_EVERY = 64;

/** What they answer depends on requests alone, not on the exchange. */
const OF_THE_EDGE: ReadonlySet<Operation> = new Set(["addFault", "removeFaults"]);

/**
 * Proves that what clients saw of an exchange is one history: the journal, decided again, answers each request at the
 * sequence of its answer as it was answered, byte by byte; each accepted command was asked for once; no answer is older
 * than what was known before its request was sent, nor newer than what had been asked for when it came. Answers the
 * first that is wrong, or null. Reads nothing but its arguments.
 */
export async function check(journal: Journal, log: ObservationLog): Promise<Finding | null> {
  const { finding, known } = checkRealTime(log);
  if (journal.trouble !== null) return ofHistory(defectOf(journal.trouble), log.observations.length - 1);
  if (finding !== null) return finding;
  const claims = new Claims(journal.history.session, log.observations, known);
  return new Check(journal, log, claims).run();
}

const ofHistory = ({ key, sentence }: { key: string; sentence: string }, index: number): Finding => ({
  fingerprint: key,
  sentence,
  index,
  isOfHistory: true,
});

/** What deciding the journal again has found at one place: nothing, or what is wrong. */
type Found = Finding | null;

class Check {
  readonly #entries: readonly Entry[];
  readonly #log: ObservationLog;
  readonly #claims: Claims;
  readonly #again: AnswerAgain;
  readonly #clock: ClockAnswers;
  readonly #first: number;
  /** Answers that show no command of their own, by sequence, each list by time. */
  readonly #shown = new Map<number, Observation[]>();
  readonly #indexOf: ReadonlyMap<Observation, number>;
  /** The latest of the requests whose commands were met, by its order number. */
  #latestAsked = 0;

  constructor({ origin, history }: Journal, log: ObservationLog, claims: Claims) {
    this.#entries = history.session;
    this.#log = log;
    this.#claims = claims;
    this.#again = new AnswerAgain(origin, log);
    this.#first = this.#again.exchange.sequence;
    this.#indexOf = new Map(log.observations.map((observation, index) => [observation, index]));
    this.#clock = new ClockAnswers(origin.start, history.session, log.observations);
    for (const observation of log.observations) {
      const { answer } = observation;
      if (answer === null || (isAccepted(observation) && !isInjected(answer))) continue;
      this.#shown.set(answer.sequence, [...(this.#shown.get(answer.sequence) ?? []), observation]);
    }
    for (const list of this.#shown.values())
      list.sort((a, b) => (a.answer?.time ?? 0) - (b.answer?.time ?? 0));
  }

  async run(): Promise<Found> {
    const beyond = this.#beyond();
    if (beyond !== null) return beyond;
    let wrong = await this.#answersHere();
    for (let index = 0; wrong === null && index < this.#entries.length; index = this.#reached()) {
      const entry = this.#entries[index] as Entry;
      wrong = isCausedByTime(entry.command) ? this.#passed(entry) : await this.#asked(entry);
      wrong ??= await this.#answersHere();
      if (index % JUDGED_EVERY === 0) wrong ??= this.#broken();
    }
    return wrong ?? this.#unreached() ?? this.#broken() ?? this.#otherState();
  }

  /** How many entries the exchange stands behind. */
  #reached(): number {
    return this.#again.exchange.sequence - this.#first;
  }

  /** An answer with a sequence that the journal does not reach. */
  #beyond(): Found {
    const last = this.#first + this.#entries.length;
    const seen = this.#log.observations.find(({ answer }) => (answer?.sequence ?? 0) > last);
    if (seen === undefined) return null;
    return this.#found(
      `beyond the journal: ${seen.request.operation}`,
      seen,
      `${answerName(seen)}, and the journal ends with ${last}`,
    );
  }

  /** What time caused must be what was due then. */
  #passed(entry: Entry): Found {
    const { exchange } = this.#again;
    const due = nextDue(exchange.state, entry.at);
    const isDue = due !== null && due.at === entry.at && sameCommand(due.command, entry.command);
    if (!isDue || entry.at < exchange.now) {
      const sentence = `sequence ${entry.sequence}, ${entry.command.kind}, was not due then`;
      return found(`not due: ${entry.command.kind}`, sentence, this.#indexAt(entry));
    }
    const decision = exchange.redo(entry);
    if (decision.ok) this.#clock.fired(firedIn(exchange.state, entry.at, decision.events));
    return null;
  }

  /** A command that somebody asked for: one request, and no other, must lead to it here. */
  async #asked(entry: Entry): Promise<Found> {
    const { exchange } = this.#again;
    const claimants = this.#claims.answered(entry);
    const candidates = [...claimants, ...this.#claims.unanswered(entry)];
    this.#again.passTo(entry.at);
    for (const candidate of candidates) {
      const before = candidates.length > 1 ? exchange.snapshot() : null;
      const reply = await this.#reply(candidate);
      if ("fingerprint" in reply) return reply;
      const accepted = this.#again.acceptedSince(entry.sequence - 1);
      if (accepted[0] !== undefined && sameCommand(accepted[0].command, entry.command)) {
        const others = claimants.filter((claimant) => claimant !== candidate);
        return this.#taken(candidate, entry, accepted, reply) ?? this.#lost(others, entry, null);
      }
      if (before === null) return this.#lost(claimants, entry, reply) ?? this.#unasked(entry);
      exchange.restore(before);
    }
    return this.#lost(claimants, entry, null) ?? this.#unasked(entry);
  }

  /** A command has found its request: the answer must be the one given then, and what follows what followed. */
  #taken(request: Observation, entry: Entry, accepted: readonly Entry[], reply: Reply): Found {
    this.#claims.take(request);
    this.#latestAsked = Math.max(this.#latestAsked, request.sent);
    const offset = entry.sequence - this.#first - 1;
    const differs = accepted.findIndex((each, index) => {
      const recorded = this.#entries[offset + index];
      return (
        recorded === undefined || !sameCommand(recorded.command, each.command) || recorded.at !== each.at
      );
    });
    if (differs > 0) {
      const kind = accepted[differs]?.command.kind ?? "nothing";
      return this.#found(`does not follow: ${kind}`, request, `${kind} follows it, and not in the journal`);
    }
    if (request.answer === null) return null;
    if (!this.#claims.isAfter(request, entry)) return this.#lost([request], entry, null);
    return this.#different(request, reply) ?? this.#notThere(request) ?? this.#fromTheFuture(request);
  }

  #notThere(request: Observation): Found {
    const { sequence } = this.#again.exchange;
    if (request.answer?.sequence === sequence) return null;
    return this.#found(
      `another sequence: ${request.request.operation}`,
      request,
      `${answerName(request)}, and its command leads to ${sequence}`,
    );
  }

  /** Requests that were acknowledged, and whose command is another one's, or nobody's. */
  #lost([request]: readonly Observation[], entry: Entry, reply: Reply | null): Found {
    if (request === undefined) return null;
    const { operation } = request.request;
    const again =
      reply === null || reply.status === 200
        ? ""
        : ` (decided again there: ${reply.status} ${codeIn(reply.body)})`;
    return this.#found(
      `acknowledged and lost: ${operation}`,
      request,
      `${answerName(request)}, and its command is not there: sequence ${entry.sequence} is ${commandName(entry)}${again}`,
    );
  }

  #unasked(entry: Entry): Finding {
    const { kind } = entry.command;
    const isTwice = this.#entries.some(
      ({ sequence, command }) => sequence < entry.sequence && sameCommand(command, entry.command),
    );
    const sentence = `sequence ${entry.sequence}, ${commandName(entry)}, has no request that led to it`;
    return found(
      isTwice ? `carried out twice: ${kind}` : `nobody asked: ${kind}`,
      isTwice ? `${sentence}, and the same was carried out before` : sentence,
      this.#indexAt(entry),
    );
  }

  /** Answers at this sequence that show no command of their own, each made again. */
  async #answersHere(): Promise<Found> {
    const { exchange } = this.#again;
    const here = this.#shown.get(exchange.sequence) ?? [];
    this.#shown.delete(exchange.sequence);
    for (const seen of here) {
      const wrong = await this.#answerHere(seen);
      if (wrong !== null) return wrong;
    }
    return null;
  }

  async #answerHere(seen: Observation): Promise<Found> {
    const { answer, request } = seen;
    if (answer === null) return null;
    const { exchange } = this.#again;
    const next = this.#entries[this.#reached()];
    const isPossible = answer.time >= exchange.now && (next === undefined || answer.time <= next.at);
    if (!isPossible || !this.#clock.mayShow(answer.time)) {
      return this.#found(
        `impossible time: ${request.operation}`,
        seen,
        `${answerName(seen)} and time ${answer.time}`,
      );
    }
    const future = this.#fromTheFuture(seen);
    if (future !== null || isInjected(answer)) return future;
    this.#again.passTo(answer.time);
    if (request.operation === "setClock") {
      const wrong = this.#clock.wrong(seen, this.#again.clock());
      return wrong === null ? null : this.#found(wrong.fingerprint, seen, wrong.sentence);
    }
    if (OF_THE_EDGE.has(request.operation)) return null;
    const reply = await this.#reply(seen);
    if ("fingerprint" in reply) return reply;
    return this.#different(seen, reply);
  }

  async #reply(seen: Observation): Promise<Reply | Finding> {
    try {
      return await this.#again.answer(seen.request, seen.answer?.requestId ?? "");
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return ofHistory(defectOf(message), this.#indexOf.get(seen) ?? 0);
    }
  }

  #different(seen: Observation, reply: Reply): Found {
    const { answer, request } = seen;
    if (answer === null || (answer.status === reply.status && answer.body === reply.body)) return null;
    const { operation } = request;
    const [was, is] = [statusName(answer), statusName(reply)];
    if (was !== is) {
      const sentence = `${answerName(seen)}${codeIn(answer.body)}, decided again there: ${is}`;
      return this.#found(`another status: ${operation} ${was}, again ${is}`, seen, sentence);
    }
    const { path, expected, found: other } = firstDifference(reply.body, answer.body);
    return this.#found(
      `another answer: ${operation} ${was}: ${pathKey(path)}`,
      seen,
      `${answerName(seen)}; made again there, ${path || "its body"} is ${expected}, found ${other}`,
    );
  }

  /** An answer that shows a command whose request had not been sent yet when it came. */
  #fromTheFuture(seen: Observation): Found {
    if (seen.answered === null || seen.answered > this.#latestAsked) return null;
    return this.#found(
      `from the future: ${seen.request.operation}`,
      seen,
      `${answerName(seen)} as number ${seen.answered}, and shows what was asked for as number ${this.#latestAsked}`,
    );
  }

  #unreached(): Found {
    const [list] = this.#shown.values();
    const [seen] = list ?? [];
    if (seen === undefined) return null;
    const sentence = `${answerName(seen)}, where nobody is answered: in the middle of a command`;
    return this.#found(`in the middle of a command: ${seen.request.operation}`, seen, sentence);
  }

  #broken(): Found {
    const [broken] = violations(this.#again.exchange.state);
    if (broken === undefined) return null;
    const { key, sentence } = brokenInvariant(broken.name);
    const figures = `${sentence}: ${broken.differences[0] ?? ""}`;
    return ofHistory({ key, sentence: figures }, this.#log.observations.length - 1);
  }

  #otherState(): Found {
    const { finalHash } = this.#log;
    const { hash } = this.#again.exchange;
    if (finalHash === null || finalHash === hash) return null;
    const sentence = `the server's state is ${finalHash} at the end, and the journal leads to ${hash}`;
    return found("another state at the end", sentence, this.#log.observations.length - 1);
  }

  #found(fingerprint: string, seen: Observation, sentence: string): Finding {
    return found(fingerprint, `${requestName(seen)} ${sentence}`, this.#indexOf.get(seen) ?? 0);
  }

  /** The first request whose answer shows an entry. */
  #indexAt({ sequence }: Entry): number {
    const index = this.#log.observations.findIndex(({ answer }) => (answer?.sequence ?? 0) >= sequence);
    return index < 0 ? this.#log.observations.length - 1 : index;
  }
}

const sameCommand = (a: Command, b: Command): boolean => JSON.stringify(a) === JSON.stringify(b);

const commandName = ({ command }: Entry): string =>
  "address" in command ? `${command.kind} of ${command.address}` : command.kind;

function codeIn(body: string): string {
  return / *"code":"(\w+)"/.exec(body)?.[1] ?? "";
}

const statusName = ({ status, body }: Reply): string =>
  [status, codeIn(body)].filter((part) => part !== "").join(" ");
