import { positionTransaction } from "../../api/position-transaction.ts";
import type { Command, FundAccount } from "../../core/commands.ts";
import { idOf } from "../../core/ids.ts";
import { marketOfToken, outcomeOf, tokenIdIn } from "../../core/market.ts";
import type { State } from "../../core/state.ts";
import type { Exchange } from "../../engine/exchange.ts";
import type { Deed, Made } from "./deeds.ts";

/** What came of a deed: something, nothing (refused, or no effect), or it speaks of what was left out. */
export type Told = "done" | "nothing" | "left out";

/**
 * Some deeds of a history told to a fresh exchange. Whatever they made has other numbers and ids there: what a command
 * speaks of is what the same deed made.
 */
export class Retelling {
  readonly exchange: Exchange;
  readonly #orders = new Map<number, number>();
  readonly #markets = new Map<number, number>();
  readonly #events = new Map<number, number>();
  readonly #faults = new Map<number, number>();

  constructor(exchange: Exchange) {
    this.exchange = exchange;
  }

  get state(): State {
    return this.exchange.state;
  }

  /** The number here of an order of the history; undefined where it was not placed. */
  orderOf(number: number): number | undefined {
    return this.#orders.get(number);
  }

  /** @throws whatever the exchange throws, which is a defect. */
  tell({ at, command, made, means }: Deed): Told {
    this.exchange.advanceTo(at);
    if (command === null) return "done";
    const own = this.#own(command, means);
    if (own === null) return "left out";
    const { orders, markets, events, chain } = this.state;
    const next = [orders.next, markets.next, events.next, chain.faultsSet + 1] as const;
    const before = this.exchange.sequence;
    const decision = this.exchange.submit(own);
    if (!decision.ok || this.exchange.sequence === before) return "nothing";
    this.#note(made, next);
    return "done";
  }

  /** What a deed would submit here; null when it speaks of what is not there. */
  ownCommand({ command, means }: Deed): Command | null {
    return command === null ? null : this.#own(command, means);
  }

  #note(made: Made, [order, market, event, fault]: readonly [number, number, number, number]): void {
    if (made.order > 0) this.#orders.set(made.order, order);
    if (made.market > 0) this.#markets.set(made.market, market);
    if (made.event > 0) this.#events.set(made.event, event);
    if (made.fault > 0) this.#faults.set(made.fault, fault);
  }

  /** A command in the terms of this exchange; null when it speaks of what is not there. */
  #own(command: Command, means: Deed["means"]): Command | null {
    switch (command.kind) {
      case "createMarket": {
        const event = this.#events.get(command.event);
        return event === undefined ? null : { ...command, event };
      }
      case "closeMarket":
      case "resolveMarket": {
        const market = this.#markets.get(command.market);
        return market === undefined ? null : { ...command, market };
      }
      case "placeOrder": {
        const tokenId = this.#tokenId(means.tokens[0] ?? 0);
        return tokenId === null ? null : { ...command, tokenId };
      }
      case "fundAccount":
        return this.#funding(command, means.tokens);
      case "cancelOrder": {
        const order = this.#orders.get(means.order);
        return order === undefined ? null : { ...command, orderId: idOf(this.state.idPrefixes.order, order) };
      }
      case "endSettlementFault": {
        if (command.number === null) return command;
        const number = this.#faults.get(command.number);
        return number === undefined ? null : { ...command, number };
      }
      case "sendTransaction": {
        if (means.position === null) return command;
        const market = this.#markets.get(means.position.market);
        if (market === undefined) return null;
        const { conditionId } = this.state.markets.get(market);
        return positionTransaction(command.from, conditionId, means.position.change);
      }
      default:
        return command;
    }
  }

  #funding(command: FundAccount, tokens: readonly number[]): Command | null {
    const own = command.tokens.flatMap(({ size }, index) => {
      const tokenId = this.#tokenId(tokens[index] ?? 0);
      return tokenId === null ? [] : [{ tokenId, size }];
    });
    const isEmpty = own.length === 0 && command.tokens.length > 0;
    return isEmpty && command.collateral === 0 && command.everyMarket === 0
      ? null
      : { ...command, tokens: own };
  }

  #tokenId(token: number): string | null {
    const market = this.#markets.get(marketOfToken(token));
    return market === undefined ? null : tokenIdIn(this.state.markets.get(market), outcomeOf(token));
  }
}
