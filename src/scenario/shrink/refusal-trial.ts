import { numbersAs } from "../../api/decimals.ts";
import type { Command } from "../../core/commands.ts";
import { decide } from "../../core/decide.ts";
import { numberOf } from "../../core/ids.ts";
import { marketOfToken, outcomeOf } from "../../core/market.ts";
import { reservationOf } from "../../core/order.ts";
import { shortfallOf } from "../../core/rules/ledger.ts";
import { findAccount, type State } from "../../core/state.ts";
import type { Millis } from "../../core/units.ts";
import type { Exchange } from "../../engine/exchange.ts";
import type { RefusedEntry } from "../../engine/journal.ts";
import { RunStopped } from "../run/session.ts";
import { refusedText } from "../run/words.ts";
import { refusedBy } from "../venue/local-attempts.ts";
import { type BrokenDeeds, DEEDS_AT_ONCE, type HistoryTrial } from "./deed-trial.ts";
import { type Deed, refusedDeed } from "./deeds.ts";
import type { HistoryNames } from "./history-names.ts";
import { Retelling } from "./retelling.ts";
import { type Signature, signatureOf } from "./signature.ts";

/** A command of which a scenario can expect that it is accepted. */
type Asked = Extract<Command, { readonly kind: "placeOrder" | "cancelOrder" }>;

/** A request at the end of a history that should not have been refused. */
export interface HistoryRefusal {
  readonly names: HistoryNames;
  readonly refused: RefusedEntry;
  /** What it asked for. */
  readonly command: Asked;
}

/**
 * Tells deeds to fresh exchanges, and tries at their end whether a request is refused with the same code, and nothing
 * else keeps it from being accepted that did not in the whole history: then it is accepted once that code is no more.
 */
export class RefusalTrial implements HistoryTrial {
  readonly #open: () => Exchange;
  readonly #refusal: HistoryRefusal;
  readonly #stop: () => boolean;
  /** The request, as the last deed. */
  #deed: Deed;
  /** What else decides about it, as it was in the whole history. */
  #circumstances: string | null = null;

  /** `end` is the exchange of the whole history. */
  constructor(open: () => Exchange, end: Exchange, refusal: HistoryRefusal, stop: () => boolean) {
    this.#open = open;
    this.#refusal = refusal;
    this.#stop = stop;
    this.#deed = refusedDeed(end.state, refusal.refused, refusal.command);
  }

  get names(): HistoryNames {
    return this.#refusal.names;
  }

  get deed(): Deed {
    return this.#deed;
  }

  /** How the request is refused; null where it is not, or with another code. */
  async first(deeds: readonly Deed[]): Promise<BrokenDeeds | null> {
    const { names, refused, command } = this.#refusal;
    const retelling = new Retelling(this.#open());
    const done: Deed[] = [];
    for (const [index, deed] of deeds.entries()) {
      if (index % DEEDS_AT_ONCE === 0 && this.#stop()) throw new RunStopped();
      if (retelling.tell(deed) === "done") done.push(deed);
    }
    const { exchange } = retelling;
    exchange.advanceTo(this.#deed.at);
    const own = retelling.ownCommand(this.#deed) as Asked | null;
    if (own === null) return null;
    const decision = decide(exchange.state, { at: this.#deed.at, command: own });
    const circumstances = circumstancesOf(exchange.state, own);
    this.#circumstances ??= circumstances;
    if (decision.ok || circumstances !== this.#circumstances) return null;
    const refusal = refusedBy(decision.refusal, { state: exchange.state, numbers: numbersAs("number") });
    if (refusal.code !== refused.request.code) return null;
    const failure = { message: `refused: ${refusedText(refusal)}`, diff: [] };
    return {
      signature: signatureOf({ ...failure, text: `${names.accountOf(command.address)}:` }),
      deeds: done,
    };
  }

  /** The same where it is refused in the same way. */
  async broken(deeds: readonly Deed[], { key }: Signature): Promise<BrokenDeeds | null> {
    const broken = await this.first(deeds).catch((error: unknown) => {
      if (error instanceof RunStopped) throw error;
      // Some deeds make no sense without others.
      return null;
    });
    return broken?.signature.key === key ? broken : null;
  }

  /** The same deeds at once, one after the other, but where the time between them decides. */
  async withoutWaiting(few: BrokenDeeds, start: Millis): Promise<BrokenDeeds> {
    let best = few;
    for (let index = 0; index < best.deeds.length; index += 1) {
      const at = best.deeds[index - 1]?.at ?? start;
      const deeds = best.deeds.map((deed, place) => (place === index ? { ...deed, at } : deed));
      best = (await this.broken(deeds, few.signature)) ?? best;
    }
    const before = this.#deed;
    this.#deed = { ...before, at: best.deeds.at(-1)?.at ?? start };
    if ((await this.broken(best.deeds, few.signature)) === null) this.#deed = before;
    return best;
  }
}

/** Whether what an order is for is open and its account can pay, or how the order stands that is to be canceled. */
function circumstancesOf(state: State, command: Asked): string {
  if (command.kind === "cancelOrder") {
    return state.orders.find(numberOf(state.idPrefixes.order, command.orderId))?.status ?? "unknown";
  }
  const token = state.tokenById.get(command.tokenId) ?? 0;
  const market = state.markets.find(marketOfToken(token));
  if (market === undefined) return "unknown";
  const required = reservationOf(command, command.size, market.feeRateBps);
  const order = { side: command.side, outcome: outcomeOf(token) };
  const account = findAccount(state, command.address);
  const isCovered = shortfallOf(account, market, order, required, state.config.balances) === null;
  return `${market.status} ${isCovered}`;
}
