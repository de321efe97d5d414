import type { DomainEvent } from "./events.ts";
import { issueCollateral, issueSets, mintGrant, openAccount, raiseGrant } from "./rules/apply-accounts.ts";
import { addEvent, addMarket, endMarket } from "./rules/apply-markets.ts";
import { endOrder, openOrder, restOrder } from "./rules/apply-orders.ts";
import { settleTrade } from "./rules/apply-trade.ts";
import type { State } from "./state.ts";
import type { Millis } from "./units.ts";
import { unreachable } from "./unreachable.ts";

/** Writes what has happened into the state. Never refuses: what cannot be applied is a defect and throws. */
export function apply(state: State, event: DomainEvent, at: Millis): void {
  switch (event.kind) {
    case "orderPlaced":
      openOrder(state, event, at);
      return;
    case "orderTraded":
      settleTrade(state, event, at);
      return;
    case "orderRested":
      restOrder(state, event, at);
      return;
    case "orderCanceled":
      endOrder(state, event.order, "CANCELED", event.reason, at);
      return;
    case "orderExpired":
      endOrder(state, event.order, "EXPIRED", null, at);
      return;
    case "grantMinted":
      mintGrant(state, event);
      return;
    case "accountOpened":
      openAccount(state, event);
      return;
    case "collateralIssued":
      issueCollateral(state, event);
      return;
    case "setsIssued":
      issueSets(state, event);
      return;
    case "grantRaised":
      raiseGrant(state, event);
      return;
    case "credentialsDerived":
      state.accounts.get(event.account).derivations += 1;
      return;
    case "eventCreated":
      addEvent(state, event, at);
      return;
    case "marketCreated":
      addMarket(state, event, at);
      return;
    case "marketClosed":
      endMarket(state, event.market, null, at);
      return;
    case "marketResolved":
      endMarket(state, event.market, event.winningOutcome, at);
      return;
    default:
      throw unreachable(event);
  }
}
