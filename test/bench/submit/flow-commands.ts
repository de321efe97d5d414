import type { Command } from "../../../src/core/commands.ts";
import { idOf } from "../../../src/core/ids.ts";
import type { State } from "../../../src/core/state.ts";
import type { OrderType } from "../../../src/core/terms.ts";
import { complement, FULL_PRICE, price, size } from "../../../src/core/units.ts";
import type { Flow } from "../flow.ts";
import { mulberry32 } from "../mulberry32.ts";
import { BUY, CANCEL } from "../operation-tape.ts";
import { TRADERS, traderAt } from "./floor.ts";

const ORDER_TYPES: readonly OrderType[] = ["GTC", "FAK", "FOK"];

/**
 * The commands that a flow is to an exchange, its orders shared out among the accounts. Where there are several
 * markets, each has the same flow of its own: first all openings, then an operation of a random market at a time.
 */
export class FlowCommands {
  readonly #flow: Flow;
  readonly #prefix: string;
  readonly #tokenIds: readonly (readonly [yes: string, no: string])[];
  /** Whether every second order is sent in terms of NO, which comes to the same in the book. */
  readonly #bothOutcomes: boolean;
  readonly #traders = Array.from({ length: TRADERS }, (_, index) => traderAt(index));
  readonly #below = mulberry32(0x5eed0003);
  /** Of each market, how much of its tape is done. */
  readonly #positions: Int32Array;
  /** Of each market and order of its tape, the number of that order in the exchange. */
  readonly #numbers: Int32Array;
  #next: number;

  /** @param state of the exchange that is to get the commands, before the first. */
  constructor(flow: Flow, state: State, { bothOutcomes = false } = {}) {
    this.#flow = flow;
    this.#prefix = state.idPrefixes.order;
    this.#tokenIds = [...state.markets].map(({ tokenIds }) => tokenIds);
    this.#bothOutcomes = bothOutcomes;
    this.#positions = new Int32Array(this.#tokenIds.length);
    this.#numbers = new Int32Array(this.#tokenIds.length * flow.tape.length);
    this.#next = state.orders.next;
  }

  /** What fills the books, a market at a time. */
  *opening(): Generator<Command> {
    for (let market = 0; market < this.#tokenIds.length; market++) {
      for (let at = 0; at < this.#flow.opening; at++) yield this.#commandIn(market);
    }
  }

  /** The next commands, in memory before the first is submitted. @throws Error when a tape is at its end. */
  take(count: number): Command[] {
    return Array.from({ length: count }, () => this.#commandIn(this.#below(this.#tokenIds.length)));
  }

  #commandIn(market: number): Command {
    const { tape, levels } = this.#flow;
    const at = this.#positions[market] as number;
    if (at >= tape.length) throw new Error(`market ${market} has come to the end of its tape`);
    this.#positions[market] = at + 1;
    const id = tape.id[at] as number;
    const address = this.#traders[(id + market) % TRADERS] as string;
    const index = market * tape.length + id - 1;
    if (tape.kind[at] === CANCEL) {
      return { kind: "cancelOrder", address, orderId: idOf(this.#prefix, this.#numbers[index] as number) };
    }
    this.#numbers[index] = this.#next++;
    const isMirrored = this.#bothOutcomes && id % 2 === 0;
    const limit = price(((tape.tick[at] as number) * FULL_PRICE) / (levels + 1));
    return {
      kind: "placeOrder",
      address,
      tokenId: (this.#tokenIds[market] as readonly string[])[isMirrored ? 1 : 0] as string,
      side: (tape.side[at] === BUY) === isMirrored ? "SELL" : "BUY",
      price: isMirrored ? complement(limit) : limit,
      size: size(tape.size[at] as number),
      orderType: ORDER_TYPES[tape.timeInForce[at] as number] as OrderType,
      expiration: null,
    };
  }
}
