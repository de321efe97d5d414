import type { DomainEvent } from "../core/events.ts";
import { marketOfToken } from "../core/market.ts";
import type { Address } from "../core/terms.ts";
import { actorOf } from "./command-words.ts";
import type { Told } from "./walk.ts";

/** The markets and accounts of which a history speaks; of all others nothing has changed since the opening. */
export class Touched {
  readonly markets = new Set<number>();
  readonly accounts = new Set<Address>();

  take({ command, outcome }: Told): void {
    const actor = command === null ? null : actorOf(command);
    if (actor !== null) this.accounts.add(actor);
    if (outcome.kind !== "accepted") return;
    for (const event of outcome.events) {
      const market = marketOf(event);
      if (market !== null) this.markets.add(market);
    }
  }
}

function marketOf(event: DomainEvent): number | null {
  switch (event.kind) {
    case "orderPlaced":
      return marketOfToken(event.token);
    case "marketCreated":
    case "marketClosed":
    case "marketResolved":
    case "setsIssued":
    case "grantMinted":
      return event.market;
    default:
      return null;
  }
}
