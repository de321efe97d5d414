import { ApiError } from "../api/errors.ts";
import {
  cancelBody,
  cancelOrderCommand,
  NOT_CANCELED,
  orderBody,
  placeOrderCommand,
} from "../api/order-request.ts";
import { refusalError } from "../api/refusals.ts";
import { numbersAs, type View } from "../api/view.ts";
import type { Command } from "../core/commands.ts";
import type { RefusedRequest } from "../core/refusals.ts";
import { decide } from "../core/rules/rules.ts";
import type { State } from "../core/state.ts";
import type { Millis } from "../core/units.ts";
import { isControl } from "../engine/journal-line.ts";
import { count, grouped } from "../scenario/report/text.ts";
import { refusedText } from "./describe-line.ts";
import type { ReplayedLine } from "./journal-replay.ts";

/** The answer to a repeated request, with its error code or the reason why nothing was canceled; null if it has none. */
interface RetryAnswer {
  readonly code: string | null;
  readonly text: string;
}

const refusedWith = (code: string): RetryAnswer => ({ code, text: `with ${code} now` });

type RefusedAttempt = Pick<RefusedRequest, "method" | "path" | "address" | "isProven" | "asked">;

/**
 * Repeats a refused request against a state without changing it. Returns null if the deciding input, such as a signature
 * or an unrecorded body, is not available.
 */
export function retryRefused(view: View, at: Millis, refused: RefusedAttempt): RetryAnswer | null {
  try {
    const command = retryOf(view, refused);
    if (command === null) return null;
    const decision = decide(view.state, { at, command });
    if (decision.ok) return { code: null, text: "accepted now" };
    if (decision.refusal.code === "ORDER_NOT_LIVE") {
      const { status } = view.state.orders.get(decision.refusal.order);
      if (status !== "LIVE") return refusedWith(NOT_CANCELED[status]);
    }
    return refusedWith(refusalError(decision.refusal, view).code);
  } catch (error) {
    if (error instanceof ApiError) return refusedWith(error.code);
    return { code: null, text: `fails now: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** Returns the command of a request; null if it is not known. @throws ApiError if the request itself is invalid. */
function retryOf(view: View, { method, path, address, isProven, asked }: RefusedAttempt): Command | null {
  if (asked?.kind === "command") return asked.command;
  if (asked === null || asked.isCut || address === null || !isProven) return null;
  switch (`${method} ${path}`) {
    case "POST /clob/order":
      return placeOrderCommand(view, address, orderBody.read(asked.body));
    case "DELETE /clob/order":
      return cancelOrderCommand(address, cancelBody.read(asked.body), asked.query);
    default:
      return null;
  }
}

/** Retries the refused requests of a journal, each in the state in which it was refused. */
export class RefusedRetries {
  /** Requests whose retry gets another answer: the line in the journal, the request and the two answers as text. */
  readonly changed: Readonly<{ line: number; asked: string; change: string }>[] = [];
  #tried = 0;
  #untried = 0;

  /** Processes the next line; the state is the one after it. */
  take({ line, result }: ReplayedLine, state: State): void {
    if (!isControl(line, "refused")) return;
    // After a line that differs, the state is not the recorded one.
    const view = { state, numbers: numbersAs("number") };
    const now = result.kind === "unknown" ? null : retryRefused(view, line.t, line.d);
    if (now === null) this.#untried += 1;
    else this.#tried += 1;
    const { code } = line.d;
    if (now === null || now.code === code) return;
    const change = `refused with ${code} then, ${now.text}`;
    this.changed.push({ line: line.n, asked: refusedText(line.d, state), change });
  }

  /** Counts of retried and other requests; null if none was refused. */
  get summary(): string | null {
    const all = this.#tried + this.#untried;
    if (all === 0) return null;
    const changed = this.changed.length;
    const parts: readonly (readonly [count: number, result: string])[] = [
      [this.#tried - changed, "refused again in the same way"],
      [changed, "answered differently now"],
      [this.#untried, "that cannot be retried"],
    ];
    const texts = parts.filter(([of]) => of > 0).map(([of, result]) => `${grouped(of)} ${result}`);
    return `${count(all, "refused request")}: ${texts.join(", ")}`;
  }
}
