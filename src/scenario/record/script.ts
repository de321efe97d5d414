import type { State } from "../../core/state.ts";
import type { Millis } from "../../core/units.ts";
import type { Attempt } from "../venue/venue.ts";
import { RecordingError } from "./recording-error.ts";
import type { Twin } from "./twin.ts";
import { moment } from "./vocabulary.ts";
import type { Entry } from "./yaml-text.ts";

/** A step as the entries of its map. */
export type Step = readonly Entry[];

/** A line for whoever reads the file, between steps. */
export interface Remark {
  readonly remark: string;
}

/** The steps of a scenario as they are written; each is done at once in the scenario's own exchange. */
export class Script {
  readonly steps: (Step | Remark)[] = [];
  readonly twin: Twin;
  /** Up to which moment the steps tell. */
  #now: Millis;

  constructor(twin: Twin) {
    this.twin = twin;
    this.#now = twin.now;
  }

  get now(): Millis {
    return this.#now;
  }

  /** What the scenario's own exchange knows by now. */
  get state(): State {
    return this.twin.state;
  }

  say(...step: Step): void {
    this.steps.push(step);
  }

  /** Says something on one line that is no step. */
  remark(remark: string): void {
    this.steps.push({ remark });
  }

  /** Says a step that the exchange has done. @throws RecordingError when it was refused there. */
  done(sequence: number, attempt: Attempt<unknown>, ...step: Step): void {
    if (!attempt.ok) {
      const [[who, what] = ["", ""]] = step;
      throw new RecordingError(
        "SESSION_NOT_RECORDABLE",
        `no step can repeat sequence ${sequence} of the session (${who}: ${what}): in the exchange of a scenario it is refused with ${attempt.code}: ${attempt.message}`,
      );
    }
    this.say(...step);
  }

  /** Lets time pass in a step, unless the steps have come so far. */
  passTo(at: Millis, words = moment(at)): void {
    if (at !== this.#now) this.say(["at", words]);
    this.#now = at;
    this.twin.advanceTo(at);
  }

  /** Lets time pass that a later step will tell of: nothing is done in between. */
  foresee(at: Millis): void {
    this.twin.advanceTo(at);
  }

  /** Tells of the time that was foreseen. */
  catchUp(): void {
    if (this.isBehind) this.passTo(this.twin.now);
  }

  get isBehind(): boolean {
    return this.twin.now > this.#now;
  }
}
