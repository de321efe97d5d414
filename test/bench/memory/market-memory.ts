import { FULL_PRICE, price, size } from "../../../src/core/units.ts";
import type { Exchange } from "../../../src/engine/exchange.ts";
import type { Part } from "../apart.ts";
import { garbageCollector } from "../rounds.ts";
import { demand, openFloor, TRADERS, traderAt } from "../submit/floor.ts";

export interface MarketMemoryChoice {
  readonly markets: number;
  /** Price levels of each. */
  readonly levels: number;
  /** Orders that come to rest in each. */
  readonly live: number;
}

/** MiB that markets take, heap and buffers together: once they are open, and once orders rest in them. */
export const marketMemory: Part<MarketMemoryChoice> = ({ markets, levels, live }) => {
  const collectGarbage = garbageCollector();
  const used = (): number => {
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    return (heapUsed + external) / 2 ** 20;
  };
  openFloor({ markets: 1, levels, feeRateBps: 0 });
  return () => {
    const before = used();
    const exchange = openFloor({ markets, levels, feeRateBps: 0 });
    const open = used() - before;
    restOrders(exchange, levels, live);
    return [open, used() - before];
  };
};

const DEPTH = 10;

/** Rests orders of all accounts in every market: bids at the ten lowest prices, asks at the ten highest. */
function restOrders(exchange: Exchange, levels: number, live: number): void {
  const { state } = exchange;
  for (const market of state.markets) {
    for (let order = 0; order < live; order++) {
      const isBid = order % 2 === 0;
      const distance = 1 + (order % DEPTH);
      const tick = isBid ? distance : levels + 1 - distance;
      demand(exchange, {
        kind: "placeOrder",
        address: traderAt(order % TRADERS),
        tokenId: market.tokenIds[0],
        side: isBid ? "BUY" : "SELL",
        price: price((tick * FULL_PRICE) / (levels + 1)),
        size: size(100),
        orderType: "GTC",
        expiration: null,
      });
    }
  }
  const resting = [...state.accounts].reduce((sum, { openCount }) => sum + openCount, 0);
  if (resting !== state.markets.size * live) throw new Error(`${resting} orders rest`);
}
