import type { Operation } from "../../api/endpoints.ts";
import { type Command, isCausedByTime } from "../../core/commands.ts";
import type { Entry } from "../../engine/journal.ts";
import { isInjected, type Observation } from "./observation.ts";
import type { Known } from "./real-time.ts";

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
