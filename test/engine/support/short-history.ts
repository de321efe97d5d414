import { tokenIdIn } from "../../../src/core/market.ts";
import { runSteps } from "../../../src/core/steps.ts";
import { millis, money, price, size } from "../../../src/core/units.ts";
import type { OpenedExchange } from "../../../src/engine/open-exchange.ts";
import { type ChainMove, chainCommandOf } from "../../core/chain/chain-moves.ts";
import { addressOf, eventCommand, fundCommand, marketCommand } from "../../support/commands.ts";

/** Submits one command of a short history of all kinds; `step` counts from 0. */
export function takeStep({ exchange }: OpenedExchange, step: number): void {
  const address = addressOf(step % 3 === 0 ? "ann" : "ben");
  if (step === 0) exchange.submit(eventCommand("event"));
  else if (step === 1) exchange.submit(marketCommand("market"));
  else if (step % 7 === 2) exchange.submit({ kind: "deriveCredentials", address: addressOf(`w${step}`) });
  else if (step % 7 === 3) {
    const collateral = money(1_000_000 * step);
    exchange.submit(fundCommand(address, { collateral, everyMarket: size(1000) }));
  } else if (step % 7 === 4) exchange.submit({ kind: "cancelAllOrders", address });
  else {
    const market = exchange.state.markets.find(1);
    exchange.submit({
      kind: "placeOrder",
      address,
      tokenId: market === undefined ? "0" : tokenIdIn(market, step % 2 === 0 ? "YES" : "NO"),
      side: "BUY",
      price: price(100 * (40 + (step % 21))),
      size: size(100 + step),
      orderType: "GTC",
      expiration: null,
    });
  }
}

/** Takes a move of a trader or on the chain. */
export function takeMove({ exchange, clock }: OpenedExchange, move: ChainMove): void {
  const command = chainCommandOf(exchange.state, exchange.now, move);
  if (move.kind === "wait") runSteps(clock.moveInSteps(clock.setting, millis(exchange.now + move.ms)));
  else if (command !== null) exchange.submit(command);
}

/** Submits the first `end` commands of the history, from `start` on. */
export function takeSteps(opened: OpenedExchange, end: number, start = 0): void {
  for (let step = start; step < end; step += 1) takeStep(opened, step);
}
