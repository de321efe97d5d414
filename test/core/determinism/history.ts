import { conditionIdOf, tokenIdOf } from "../../../src/core/chain/contracts.ts";
import type { Command } from "../../../src/core/commands.ts";
import { idOf } from "../../../src/core/ids.ts";
import { tokenIdIn } from "../../../src/core/market.ts";
import { type Stream, stream } from "../../../src/core/random.ts";
import type { State } from "../../../src/core/state.ts";
import { canonicalLines } from "../../../src/core/state-document.ts";
import type { OrderType, Outcome, Side } from "../../../src/core/terms.ts";
import { toIso } from "../../../src/core/time.ts";
import { millis, money, price, size } from "../../../src/core/units.ts";
import { Exchange } from "../../../src/engine/exchange.ts";
import { generateWorld } from "../../../src/simulation/generate-world.ts";
import { openingCommands } from "../../../src/simulation/opening.ts";
import { writeWorld } from "../../../src/simulation/world.ts";
import { addressOf, eventCommand } from "../../support/commands.ts";
import { UNSETTLED } from "../../support/config.ts";
import { START } from "../../support/exchange.ts";

/*
 * A separate program: the world of seed 7, its opening, and a thousand commands drawn from a seeded stream. It prints
 * every event and the whole state, so that two runs can be compared byte by byte.
 */

const NAMES = ["İnci", "Ångström", "Straße", "ılgın"];
const COMMANDS = 1000;

function drawOrder(state: State, random: Stream, now: number): Command {
  const market = state.markets.get(random.between(1, state.markets.size));
  const tick = market.tickSize;
  const type = random.pick<OrderType>(["GTC", "GTD", "FOK", "FAK"]);
  return {
    kind: "placeOrder",
    address: addressOf(random.pick(NAMES)),
    tokenId: tokenIdIn(market, random.pick<Outcome>(["YES", "NO"])),
    side: random.pick<Side>(["BUY", "SELL"]),
    price: price(random.between(1, 10_000 / tick - 1) * tick),
    size: size(random.between(50, 20_000)),
    orderType: type,
    expiration: type === "GTD" ? millis(now + random.between(1, 5_000)) : null,
  };
}

function draw(state: State, random: Stream, now: number): Command {
  switch (random.below(12)) {
    case 0:
      return { kind: "cancelAllOrders", address: addressOf(random.pick(NAMES)) };
    case 1:
      return { kind: "deriveCredentials", address: addressOf(random.pick(NAMES)) };
    case 2:
      return eventCommand(`${random.pick(NAMES)}-${random.below(100)}`);
    case 3: {
      const order = state.orders.find(random.between(1, state.orders.size + 1));
      const address = order === undefined ? "" : state.accounts.get(order.account).address;
      return { kind: "cancelOrder", address, orderId: idOf(state.idPrefixes.order, order?.number ?? 0) };
    }
    default:
      return drawOrder(state, random, now);
  }
}

const lines: string[] = [];
const world = await generateWorld({ seed: "7", markets: 12 });
lines.push(...writeWorld(world).split("\n"));

const faucet = { collateral: money(10_000_000_000), everyMarket: size(1_000_000) };
const exchange = new Exchange({ seed: world.seed, faucet, credentials: "rotate", ...UNSETTLED }, START);
exchange.watch((sequence, at, events) => {
  for (const event of events) lines.push(`${sequence} ${toIso(at)} ${JSON.stringify(event)}`);
});
const opening = [
  ...openingCommands(world, START, (market, outcome) =>
    tokenIdOf(conditionIdOf(world.seed, market), outcome),
  ),
];
exchange.restart(opening[0]?.at ?? START);
for (const { at, command } of opening) {
  exchange.advanceTo(at);
  exchange.submit(command);
}
exchange.advanceTo(START);

const random = stream(world.seed, "commands");
for (let count = 0; count < COMMANDS; count += 1) {
  const decision = exchange.submit(draw(exchange.state, random, exchange.now));
  if (!decision.ok) lines.push(JSON.stringify(decision.refusal));
  if (random.oneIn(3)) exchange.advanceTo(millis(exchange.now + random.below(2_000)));
}
lines.push(...canonicalLines(exchange.state), exchange.hash);
process.stdout.write(`${lines.join("\n")}\n`);
