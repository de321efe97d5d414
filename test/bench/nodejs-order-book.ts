import { type IProcessOrder, type LimitOrderOptions, OrderBook, Side } from "nodejs-order-book";
import type { Contender } from "./contender.ts";
import { BUY, CANCEL, type OperationTape } from "./operation-tape.ts";
import { TradeTally } from "./trade-tally.ts";

/** The package nodejs-order-book. Its ids are strings: they are made beforehand, and only those of makers are read back. */
export const nodejsOrderBook: Contender = {
  name: "nodejs-order-book",
  prepare({ tape, opening }) {
    const book = new OrderBook();
    const tally = new TradeTally();
    const ids = Array.from({ length: tape.length }, (_, at) => String(tape.id[at]));
    replay(book, tape, ids, 0, opening, tally);
    return () => {
      replay(book, tape, ids, opening, tape.length, tally);
      return tally;
    };
  },
};

/** By our GTC, FAK and FOK. */
const TIMES_IN_FORCE = ["GTC", "IOC", "FOK"] as NonNullable<LimitOrderOptions["timeInForce"]>[];

function replay(
  book: OrderBook,
  tape: OperationTape,
  ids: readonly string[],
  from: number,
  to: number,
  tally: TradeTally,
): void {
  for (let at = from; at < to; at++) {
    const id = ids[at] as string;
    if (tape.kind[at] === CANCEL) {
      book.cancel(id);
    } else {
      const result = book.limit({
        id,
        side: tape.side[at] === BUY ? Side.BUY : Side.SELL,
        size: tape.size[at] as number,
        price: tape.tick[at] as number,
        timeInForce: TIMES_IN_FORCE[tape.timeInForce[at] as number] as (typeof TIMES_IN_FORCE)[number],
      });
      addTrades(result, id, tape.id[at] as number, tally);
    }
  }
}

/** Its result lists makers filled whole (with the size they had left), then the maker or taker that is filled in part. */
function addTrades(result: IProcessOrder, takerId: string, taker: number, tally: TradeTally): void {
  for (const maker of result.done) {
    if (maker.id !== takerId && "price" in maker) {
      tally.add(taker, Number(maker.id), maker.price, maker.size);
    }
  }
  const { partial } = result;
  if (partial !== null && partial.id !== takerId) {
    tally.add(taker, Number(partial.id), partial.price, result.partialQuantityProcessed);
  }
}
