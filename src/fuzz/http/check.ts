import { type Command, isCausedByTime } from "../../core/commands.ts";
import { violations } from "../../core/invariants/invariants.ts";
import { nextDue } from "../../core/schedule.ts";
import type { Entry } from "../../engine/journal.ts";
import { brokenInvariant, defectOf } from "../../history/shrink/fingerprint.ts";
import { firedIn } from "../../server/handlers/control.ts";
import { AnswerAgain, AnswerCheck, type Reply, statusName } from "./answers.ts";
import { Claims, checkRealTime, type Journal } from "./claims.ts";
import {
  answerName,
  type Finding,
  found,
  type Observation,
  type ObservationLog,
  ofHistory,
} from "./observation.ts";
import { ClockAnswers, ShownAnswers } from "./shown-answers.ts";

/** After so many commands every invariant is judged. */
const JUDGED_EVERY = 64;

/** What deciding the journal again has found at one place: nothing, or what is wrong. */
type Found = Finding | null;

/** Decides a journal again and holds each answer, where it was made, against what is answered there. */
class ReplayCheck {
  readonly #entries: readonly Entry[];
  readonly #log: ObservationLog;
  readonly #claims: Claims;
  readonly #again: AnswerAgain;
  readonly #clock: ClockAnswers;
  readonly #answers: AnswerCheck;
  readonly #shown: ShownAnswers;
  readonly #first: number;

  constructor({ origin, history }: Journal, log: ObservationLog, claims: Claims) {
    const { observations } = log;
    const again = new AnswerAgain(origin, log);
    const answers = new AnswerCheck(again, observations);
    const clock = new ClockAnswers(origin.start, history.session, observations);
    this.#entries = history.session;
    this.#log = log;
    this.#claims = claims;
    this.#again = again;
    this.#clock = clock;
    this.#answers = answers;
    this.#shown = new ShownAnswers(observations, { again, answers, clock });
    this.#first = again.exchange.sequence;
  }

  async run(): Promise<Found> {
    let wrong = this.#beyond() ?? this.#before() ?? (await this.#shown.here(this.#entries[0]));
    for (let index = 0; wrong === null && index < this.#entries.length; index = this.#reached()) {
      const entry = this.#entries[index] as Entry;
      wrong = isCausedByTime(entry.command) ? this.#passed(entry) : await this.#asked(entry);
      wrong ??= await this.#shown.here(this.#entries[this.#reached()]);
      if (index % JUDGED_EVERY === 0) wrong ??= this.#broken();
    }
    return wrong ?? this.#shown.unreached() ?? this.#broken() ?? this.#otherState();
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
    return this.#answers.found(
      `beyond the journal: ${seen.request.operation}`,
      seen,
      `${answerName(seen)}, and the journal ends with ${last}`,
    );
  }

  /** An accepted request, answered before anybody's command was accepted. */
  #before(): Found {
    return this.#lost(this.#claims.withoutCommand, null, null);
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
    if (decision.ok) this.#clock.fired(firedIn(exchange.state, entry.at, decision.events), entry.sequence);
    return null;
  }

  /** A command that somebody asked for: one request, and no other, must lead to it here. */
  async #asked(entry: Entry): Promise<Found> {
    const { exchange } = this.#again;
    const claimants = this.#claims.answered(entry);
    const early = claimants.find((claimant) => !this.#claims.isAfter(claimant, entry));
    if (early !== undefined) return this.#early(early, entry);
    const candidates = [...claimants, ...this.#claims.unanswered(entry)];
    this.#again.passTo(entry.at);
    for (const candidate of candidates) {
      const before = candidates.length > 1 ? exchange.snapshot() : null;
      const reply = await this.#answers.reply(candidate);
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
    const offset = entry.sequence - this.#first - 1;
    const differs = accepted.findIndex((each, index) => {
      const recorded = this.#entries[offset + index];
      return (
        recorded === undefined || !sameCommand(recorded.command, each.command) || recorded.at !== each.at
      );
    });
    if (differs > 0) {
      const kind = accepted[differs]?.command.kind ?? "nothing";
      return this.#answers.found(
        `does not follow: ${kind}`,
        request,
        `${kind} follows it, and not in the journal`,
      );
    }
    if (request.answer === null) return null;
    return this.#answers.different(request, reply) ?? this.#notThere(request);
  }

  /** The answer to an accepted request says where its command has led to. */
  #notThere(request: Observation): Found {
    const { sequence, now } = this.#again.exchange;
    if (request.answer?.sequence === sequence && request.answer.time === now) return null;
    return this.#answers.found(
      `another place: ${request.request.operation}`,
      request,
      `${answerName(request)} and time ${request.answer?.time}, and its command leads to ${sequence} and time ${now}`,
    );
  }

  /** A request whose command somebody had seen before it was sent: that answer came from the future, or this one is wrong. */
  #early(request: Observation, entry: Entry): Finding {
    return this.#answers.found(
      `seen before it was asked for: ${entry.command.kind}`,
      request,
      `${answerName(request)}, and other answers had shown sequence ${entry.sequence}, ${commandName(entry)}, before it was sent`,
    );
  }

  /** Requests that were acknowledged, and whose command is another one's, or nobody's. */
  #lost([request]: readonly Observation[], entry: Entry | null, reply: Reply | null): Found {
    if (request === undefined) return null;
    const there = entry === null ? "there is none" : `sequence ${entry.sequence} is ${commandName(entry)}`;
    const again =
      reply === null || reply.status === 200 ? "" : `; made again there it is ${statusName(reply)}`;
    return this.#answers.found(
      `acknowledged and lost: ${request.request.operation}`,
      request,
      `${answerName(request)}, and its command is not in the journal: ${there}${again}`,
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

  /** The first request whose answer shows an entry. */
  #indexAt({ sequence }: Entry): number {
    const index = this.#log.observations.findIndex(({ answer }) => (answer?.sequence ?? 0) >= sequence);
    return index < 0 ? this.#log.observations.length - 1 : index;
  }
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
  if (journal.trouble !== null) return ofHistory(defectOf(journal.trouble), log.observations.length - 1);
  const { finding, known } = checkRealTime(log);
  if (finding !== null) return finding;
  const claims = new Claims(journal.history.session, log.observations, known);
  return new ReplayCheck(journal, log, claims).run();
}
