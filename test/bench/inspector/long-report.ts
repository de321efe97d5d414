import { closeSync, openSync, writeSync } from "node:fs";
import { DEFAULT_CONFIG, VERSION } from "../../../src/config.ts";
import type { Command } from "../../../src/core/commands.ts";
import { idOf, numberOf } from "../../../src/core/ids.ts";
import { type Market, tokenIdIn } from "../../../src/core/market.ts";
import { type Millis, money, price, size } from "../../../src/core/units.ts";
import { Exchange } from "../../../src/engine/exchange.ts";
import { eventHash } from "../../../src/engine/hashes.ts";
import { LineWriter } from "../../../src/engine/journal-codec.ts";
import { FORMAT } from "../../../src/engine/journal-line.ts";
import { loadOrigin } from "../../../src/engine/origin.ts";
import { addressOf } from "../../support/commands.ts";
import { mulberry32 } from "../flow.ts";

const START = Date.UTC(2026, 0, 1) as Millis;
const TRADERS = Array.from({ length: 40 }, (_, index) => addressOf(`trader-${index}`));
const MARKETS = 20;
/** Number of resting orders above which more are canceled than placed. */
const RESTING = 500;
const PIECE = 1 << 20;

/** Writes a report of commands on the default world: orders in 20 markets, some of which trade, and cancels. */
export async function writeLongReport(path: string, commands: number): Promise<void> {
  const origin = await loadOrigin({ ...DEFAULT_CONFIG, start: START }, START);
  const exchange = new Exchange(origin.config, START);
  origin.play(exchange);
  const { state } = exchange;
  const file = openSync(path, "w");
  const writer = new LineWriter();
  const clock = { mode: "frozen", rate: 1, followsWall: false } as const;
  const { config, base } = origin;
  const { sequence, hash } = exchange;
  writer.control(
    "opening",
    { format: FORMAT, engine: VERSION, config, start: START, clock, base, sequence, hash },
    START,
    0,
  );
  exchange.watch((_sequence, at, events, command) => {
    const placed = events.find((event) => event.kind === "orderPlaced");
    const caused = eventHash(events);
    if (placed !== undefined) writer.order(placed, at, 0, caused);
    else if (command.kind === "cancelOrder")
      writer.cancel(numberOf(state.idPrefixes.order, command.orderId), at, 0, caused);
    else writer.command(command, at, 0, caused);
    if (writer.buffer.length < PIECE) return;
    writeSync(file, writer.buffer.bytes);
    writer.buffer.cut(0);
  });
  for (const address of TRADERS) {
    const collateral = money(9_000_000_000_000);
    exchange.submit({ kind: "fundAccount", address, collateral, tokens: [], everyMarket: size(100_000_000) });
  }
  const markets = [...state.markets].filter(({ status }) => status === "ACTIVE").slice(0, MARKETS);
  const next = commandsOf(exchange, markets);
  while (exchange.sequence - sequence < commands) exchange.submit(next());
  const report = {
    hash: exchange.hash,
    reason: "bench",
    engine: VERSION,
    node: process.versions.node,
    replay: "",
  };
  writer.control("report", report, exchange.now, 0);
  writeSync(file, writer.buffer.bytes);
  closeSync(file);
}

/** Generates orders around the mid price and cancels of resting orders. */
function commandsOf({ state }: Exchange, markets: readonly Market[]): () => Command {
  const below = mulberry32(1);
  const one = <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item;
  let seen = state.orders.size;
  const resting: Extract<Command, { kind: "cancelOrder" }>[] = [];
  return () => {
    for (; seen < state.orders.size; seen += 1) {
      const order = state.orders.get(seen + 1);
      const { address } = state.accounts.get(order.account);
      if (order.status === "LIVE")
        resting.push({
          kind: "cancelOrder",
          address,
          orderId: idOf(state.idPrefixes.order, order.number),
        });
    }
    if (resting.length > RESTING && below(5) < 3) {
      const [canceled] = resting.splice(below(resting.length), 1);
      if (canceled !== undefined) return canceled;
    }
    const market = one(markets);
    const levels = 10_000 / market.tickSize;
    const tick = Math.round(levels * 0.2) + below(Math.round(levels * 0.3)) + below(Math.round(levels * 0.3));
    return {
      kind: "placeOrder",
      address: one(TRADERS),
      tokenId: tokenIdIn(market, below(2) === 0 ? "YES" : "NO"),
      side: below(2) === 0 ? "BUY" : "SELL",
      price: price(tick * market.tickSize),
      size: size(Math.max(market.minOrderSize, 500 + below(5_000))),
      orderType: "GTC",
      expiration: null,
    };
  };
}
