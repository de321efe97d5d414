import { FlowBook } from "./flow-book.ts";
import { mulberry32 } from "./mulberry32.ts";
import { BUY, FAK, FOK, GTC, OperationTape, SELL } from "./operation-tape.ts";
import { TradeTally } from "./trade-tally.ts";

/** Operations for a book, and the trades they make. */
export interface Flow {
  /** Prices are 1..levels, in ticks. */
  readonly levels: number;
  readonly tape: OperationTape;
  /** How many operations at the start only fill the book and are not measured. */
  readonly opening: number;
  /** The trades that the operations make; the opening makes none. */
  readonly expected: TradeTally;
}

export interface FlowChoice {
  /** Price levels of the book. */
  readonly levels: 99 | 999 | 9999;
  /** Whether crossing orders are a mix of GTC, FAK and FOK instead of all GTC. */
  readonly typed?: boolean;
  /** The whole flow is 1,000,000; fewer are its first ones. */
  readonly operations?: number;
}

/** How far behind the other side's best price an order may rest, and how far beyond it one may cross, in ticks. */
const SHAPES = {
  99: { window: 20, slip: 5 },
  999: { window: 100, slip: 20 },
  9999: { window: 1000, slip: 160 },
} as const;

/**
 * The common order flow: about half passive orders, a quarter cancellations of random live orders and a fifth crossing
 * orders, around 10,000 live orders. The same choice makes the same flow, whichever engine or language reads it.
 */
export function commonFlow(choice: FlowChoice): Flow {
  const maker = new FlowMaker(choice, choice.operations ?? 1_000_000);
  return { levels: choice.levels, tape: maker.tape, opening: 0, expected: maker.tally };
}

class FlowMaker {
  readonly tape: OperationTape;
  readonly tally = new TradeTally();
  readonly #levels: number;
  readonly #window: number;
  readonly #slip: number;
  readonly #typed: boolean;
  readonly #below: (bound: number) => number;
  readonly #book: FlowBook;
  #lastId = 0;

  constructor({ levels, typed = false }: FlowChoice, operations: number) {
    this.tape = new OperationTape(operations);
    this.#levels = levels;
    this.#window = SHAPES[levels].window;
    this.#slip = SHAPES[levels].slip;
    this.#typed = typed;
    this.#below = mulberry32(0x5eed0000 + levels);
    this.#book = new FlowBook(levels, this.tally);
    for (let index = 0; index < operations; index++) this.#next(index);
  }

  #next(index: number): void {
    const kind = this.#below(100);
    const live = this.#book.live.length;
    const adds = live < 10_000 ? 59 : 51;
    if (index < 5000 || kind < adds) {
      if (live > 20_000) this.#cancel();
      else this.#add();
    } else if (live < 1000) this.#add();
    else if (kind < 80) this.#cancel();
    else this.#cross();
  }

  /** A passive order, somewhere in the window behind the other side's best price; small sizes are the most common. */
  #add(): void {
    const { bestBid, bestAsk } = this.#book;
    const middle = this.#levels >> 1;
    let side = this.#below(2);
    const offset = 1 + this.#below(this.#window);
    if (side === BUY && bestAsk <= 1) side = SELL;
    else if (side === SELL && bestBid >= this.#levels) side = BUY;
    const ask = bestAsk <= this.#levels ? bestAsk : Math.max(bestBid, middle) + 1;
    const bid = bestBid > 0 ? bestBid : Math.min(bestAsk, middle + 1) - 1;
    const tick = side === BUY ? ask - offset : bid + offset;
    const draw = this.#below(1000);
    this.#place(side, this.#clamp(tick), 1 + Math.floor((draw * draw * draw * draw) / 1e9), GTC);
  }

  #cancel(): void {
    const { live } = this.#book;
    const order = live[this.#below(live.length)];
    if (order === undefined) throw new Error("a flow cancels only while orders are live");
    this.tape.cancel(order.id);
    this.#book.remove(order);
  }

  /** An order that takes the best price of the other side, and perhaps some ticks beyond it. */
  #cross(): void {
    const { bestBid, bestAsk } = this.#book;
    const side = this.#below(this.#levels + 1) >= (bestBid + bestAsk) >> 1 ? BUY : SELL;
    if (side === BUY ? bestAsk > this.#levels : bestBid === 0) {
      this.#add();
      return;
    }
    const slip = this.#below(this.#slip);
    const tick = this.#clamp(side === BUY ? bestAsk + slip : bestBid - slip);
    const size = 1 + this.#below(1000);
    this.#place(side, tick, size, this.#typed ? this.#timeInForce() : GTC);
  }

  #timeInForce(): number {
    const draw = this.#below(100);
    if (draw < 50) return GTC;
    return draw < 85 ? FAK : FOK;
  }

  #place(side: number, tick: number, size: number, timeInForce: number): void {
    const id = ++this.#lastId;
    this.tape.place(id, side, tick, size, timeInForce);
    this.#book.place(id, side, tick, size, timeInForce);
  }

  #clamp(tick: number): number {
    return Math.min(Math.max(tick, 1), this.#levels);
  }
}
