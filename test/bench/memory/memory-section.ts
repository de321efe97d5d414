import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { FULL_PRICE, price, size } from "../../../src/core/units.ts";
import type { Exchange } from "../../../src/engine/exchange.ts";
import { steadyFlow } from "../flow.ts";
import { buildProgram, serveClobsim } from "../programs.ts";
import { garbageCollector } from "../rounds.ts";
import { type Measurement, measurementOf, type Section } from "../section.ts";
import { type ProcessTask, SeparateProcess } from "../separate-process.ts";
import {
  FlowCommands,
  mustSubmit,
  openFundedExchange,
  TRADERS,
  traderAt,
} from "../submit/funded-exchange.ts";

interface HistoryMemoryChoice {
  /** Number of resting orders. */
  readonly live: number;
  readonly commands: number;
}

/**
 * Bytes of memory per command with a constant number of resting orders, in the first and in the second half of a history:
 * the orders and trades, which are never removed. Then the number of trades of each half.
 */
export const historyMemory: ProcessTask<HistoryMemoryChoice> = ({ live, commands }) => {
  const collectGarbage = garbageCollector();
  const used = (): number => {
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  return () => {
    const exchange = openFundedExchange({ markets: 1, levels: 999, feeRateBps: 0 });
    const source = new FlowCommands(steadyFlow({ live, operations: commands }), exchange.state);
    for (const command of source.opening()) mustSubmit(exchange, command);
    const run = (count: number): void => {
      for (let left = count; left > 0; left -= STEP) {
        for (const command of source.take(Math.min(STEP, left))) mustSubmit(exchange, command);
      }
    };
    const before = used();
    run(commands / 2);
    const middle = used();
    run(commands / 2);
    const after = used();
    return [
      (middle - before) / (commands / 2),
      (after - middle) / (commands / 2),
      exchange.state.trades.size / commands,
    ];
  };
};

/** Number of commands made at a time. */
const STEP = 10_000;

interface MarketMemoryChoice {
  readonly markets: number;
  /** Price levels of each market. */
  readonly levels: number;
  /** Number of resting orders in each market. */
  readonly live: number;
}

/** MiB of markets, heap and buffers together: after their creation, and with resting orders. */
export const marketMemory: ProcessTask<MarketMemoryChoice> = ({ markets, levels, live }) => {
  const collectGarbage = garbageCollector();
  const used = (): number => {
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    return (heapUsed + external) / 2 ** 20;
  };
  openFundedExchange({ markets: 1, levels, feeRateBps: 0 });
  return () => {
    const before = used();
    const exchange = openFundedExchange({ markets, levels, feeRateBps: 0 });
    const open = used() - before;
    restOrders(exchange, levels, live);
    return [open, used() - before];
  };
};

const DEPTH = 10;

/** Places orders of all accounts in every market: bids at the ten lowest prices, asks at the ten highest. */
function restOrders(exchange: Exchange, levels: number, live: number): void {
  const { state } = exchange;
  for (const market of state.markets) {
    for (let order = 0; order < live; order++) {
      const isBid = order % 2 === 0;
      const distance = 1 + (order % DEPTH);
      const tick = isBid ? distance : levels + 1 - distance;
      mustSubmit(exchange, {
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

const MARKETS = 5000;
const LIVE = 40;
/** Options of a book with a constant number of orders. */
const COMMANDS = 1_000_000;
const HEAP = "heap and buffers";

/** Memory of many markets. */
export const memorySection: Section = {
  name: "memory",
  about: `what ${figure(MARKETS)} markets take`,
  async measure() {
    await buildProgram();
    const row = (workload: string, subject: string, figure: number): Measurement =>
      measurementOf(workload, subject, [figure], null);
    const measurements: Measurement[] = [];
    for (const levels of [99, 999] as const) {
      const [open, resting] = (await marketsAlone(levels)) as [number, number];
      const markets = `${figure(MARKETS)} markets of ${levels} levels`;
      measurements.push(row(`${markets}, nothing traded`, HEAP, open));
      measurements.push(row(`${markets}, ${LIVE} orders resting in each`, HEAP, resting));
    }
    for (const flags of [[], ["--markets", String(MARKETS)]]) {
      const name = ["clobsim serve", ...flags].join(" ");
      measurements.push(row(name, "resident, all of it", await residentServer(...flags)));
    }
    const [early = 0, late = 0, trades = 0] = await historyAlone();
    return {
      unit: "MiB",
      baseline: null,
      rounds: 1,
      measurements,
      notes: [
        "Each figure from a new process; it varies by less than one per cent. A generated world has traded before it opens.",
        `A history grows by ${early.toFixed(0)} bytes a command in the first half of ${figure(COMMANDS)} commands of a steady book, by ${late.toFixed(0)} in the second: ${(late / trades).toFixed(0)} for each trade, with the orders and cancels that come with it.`,
      ],
    };
  },
};

async function historyAlone(): Promise<number[]> {
  const choice: HistoryMemoryChoice = { live: 1_000, commands: COMMANDS };
  const part = new SeparateProcess("historyMemory", choice);
  try {
    return await part.ask();
  } finally {
    await part.stop();
  }
}

async function marketsAlone(levels: number): Promise<number[]> {
  const choice: MarketMemoryChoice = { markets: MARKETS, levels, live: LIVE };
  const part = new SeparateProcess("marketMemory", choice);
  try {
    return await part.ask();
  } finally {
    await part.stop();
  }
}

/** Resident memory of the started program, in MiB. */
async function residentServer(...flags: readonly string[]): Promise<number> {
  const server = await serveClobsim(...flags);
  try {
    const { stdout } = await promisify(execFile)("ps", ["-o", "rss=", "-p", String(server.pid)]);
    return Number(stdout) / 1024;
  } finally {
    await server.stop();
  }
}

function figure(count: number): string {
  return count.toLocaleString("en-US");
}
