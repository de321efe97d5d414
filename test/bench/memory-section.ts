import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { FULL_PRICE } from "../../src/core/units.ts";
import type { Exchange, Snapshot } from "../../src/engine/exchange.ts";
import { contentHash } from "../../src/engine/hashes.ts";
import {
  gtcOrder,
  mustSubmit,
  openFundedExchange,
  openSteady,
  submitAll,
  TRADERS,
  traderAt,
} from "./funded-exchange.ts";
import type { ProcessTask } from "./programs.ts";
import { elapsed, type Measurement, measurementOf, median, memoryMeter, type Section } from "./rounds.ts";
import { whole } from "./table.ts";

/** Number of commands made at a time. */
const STEP = 10_000;

/** Submits the next commands of a flow. */
function run({ exchange, source }: ReturnType<typeof openSteady>, count: number): void {
  for (let left = count; left > 0; left -= STEP) submitAll(exchange, source.take(Math.min(STEP, left)));
}

/**
 * Bytes of memory per command with a constant number of resting orders, in the first and in the second half of a history:
 * the orders and trades, which are never removed. Then the number of trades per command.
 */
export const historyMemory: ProcessTask<typeof HISTORY> = (choice) => {
  const used = memoryMeter();
  return () => {
    const steady = openSteady(choice);
    const half = choice.operations / 2;
    const before = used();
    run(steady, half);
    const middle = used();
    run(steady, half);
    const after = used();
    const { trades } = steady.exchange.state;
    return [(middle - before) / half, (after - middle) / half, trades.size / choice.operations];
  };
};

const MIB = 2 ** 20;

type MarketMemoryChoice = Readonly<Record<"markets" | "levels" | "live", number>>;

/** MiB of markets with some price levels: after their creation, and with resting orders in each. */
export const marketMemory: ProcessTask<MarketMemoryChoice> = ({ markets, levels, live }) => {
  const used = memoryMeter();
  openFundedExchange({ levels });
  return () => {
    const before = used();
    const exchange = openFundedExchange({ markets, levels });
    const open = used() - before;
    restOrders(exchange, levels, live);
    return [open / MIB, (used() - before) / MIB];
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
      const limit = (tick * FULL_PRICE) / (levels + 1);
      const [address, tokenId] = [traderAt(order % TRADERS), market.tokenIds[0]];
      mustSubmit(exchange, gtcOrder(address, tokenId, isBid ? "BUY" : "SELL", limit, 100));
    }
  }
  const resting = [...state.accounts].reduce((sum, { openCount }) => sum + openCount, 0);
  if (resting !== state.markets.size * live) throw new Error(`${resting} orders rest`);
}

const MARKETS = 5000;
const LIVE = 40;
/** A book with a constant number of orders. */
const HISTORY = { live: 1_000, operations: 1_000_000 };
const HEAP = "heap and buffers";
const ONCE = { rounds: 1, warmUps: 0 };

/** Memory of many markets. */
export const memorySection: Section = {
  name: "memory",
  about: `what ${whole(MARKETS)} markets take`,
  unit: "MiB",
  baseline: null,
  most: 1,
  async measure(_rounds, programs) {
    const measurements: Measurement[] = [];
    for (const levels of [99, 999]) {
      const task = programs.task("marketMemory", { markets: MARKETS, levels, live: LIVE });
      const [open = [], resting = []] = await task.columns(ONCE);
      const markets = `${whole(MARKETS)} markets of ${levels} levels`;
      measurements.push(
        measurementOf(`${markets}, nothing traded`, HEAP, open),
        measurementOf(`${markets}, ${LIVE} orders resting in each`, HEAP, resting),
      );
    }
    for (const flags of [[], ["--markets", String(MARKETS)]]) {
      const { pid, stop } = await programs.clobsim(...flags);
      const { stdout } = await promisify(execFile)("ps", ["-o", "rss=", "-p", String(pid)]);
      await stop();
      const name = ["clobsim serve", ...flags].join(" ");
      measurements.push(measurementOf(name, "resident, all of it", [Number(stdout) / 1024]));
    }
    const history = await programs.task("historyMemory", HISTORY).columns(ONCE);
    const [early = 0, late = 0, trades = 0] = history.flat();
    return {
      measurements,
      notes: [
        "Each figure from a new process; it varies by less than one per cent. A generated world has traded before it opens.",
        `A history grows by ${early.toFixed(0)} bytes a command in the first half of ${whole(HISTORY.operations)} commands of a steady book, by ${late.toFixed(0)} in the second: ${(late / trades).toFixed(0)} for each trade, with the orders and cancels that come with it.`,
      ],
    };
  },
};

const BETWEEN = 1_000;
const SNAPSHOTS = { live: 10_000, before: 100_000, between: BETWEEN, snapshots: 50 };

/**
 * Milliseconds to take a snapshot, to restore one, for the commands before it and after it, and to compute the hash of the
 * state; then KiB per snapshot of a history.
 */
export const snapshotCosts: ProcessTask<typeof SNAPSHOTS> = ({ live, before, between, snapshots }) => {
  const steady = openSteady({ live, operations: before + between * 10_000 });
  run(steady, before);
  const { exchange, source } = steady;
  const used = memoryMeter();
  const go = (): Promise<number> => {
    const commands = source.take(between);
    return elapsed(() => submitAll(exchange, commands));
  };
  const memoryOf = async (count: number): Promise<number> => {
    const kept: Snapshot[] = [];
    const base = used();
    for (let snapshot = 0; snapshot < count; snapshot += 1) {
      kept.push(exchange.snapshot());
      await go();
    }
    return (used() - base) / 1_024 / kept.length;
  };
  return async () => {
    used();
    const usual = await go();
    const kept: Snapshot[] = [];
    const take = await elapsed(() => kept.push(exchange.snapshot()));
    const after = await go();
    const hash = await elapsed(() => contentHash(exchange.state));
    const here = exchange.snapshot();
    const back = await elapsed(() => exchange.restore(kept[0] as Snapshot));
    exchange.restore(here);
    return [take, back, usual, after, hash, await memoryOf(snapshots)];
  };
};

const COSTS = [
  "take a snapshot",
  "go back to one",
  `${BETWEEN} commands before a snapshot`,
  `${BETWEEN} commands after a snapshot`,
  "hash of the state, which POST /sim/snapshots answers",
];

/** Cost of snapshots in memory. */
export const snapshotsSection: Section = {
  name: "snapshots",
  about: `snapshots in memory of an exchange with ${whole(SNAPSHOTS.live)} live orders`,
  unit: "ms",
  baseline: null,
  async measure(rounds, programs) {
    const columns = await programs.task("snapshotCosts", SNAPSHOTS).columns({ rounds, warmUps: 1 });
    const kibibytes = median(columns.pop() ?? []);
    return {
      measurements: COSTS.map((row, index) => measurementOf(row, "clobsim", columns[index] ?? [])),
      notes: [
        `After ${whole(SNAPSHOTS.before)} commands. A snapshot shares all that does not change later; what does is copied when it is first looked at.`,
        `Each of ${SNAPSHOTS.snapshots} snapshots, ${BETWEEN} commands apart, takes ${kibibytes.toFixed(0)} KiB, the commands' own orders and trades included.`,
      ],
    };
  },
};
