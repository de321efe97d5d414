import type { DomainEvent } from "./events.ts";
import {
  issueCollateral,
  issueSets,
  mintGrant,
  noteDerivation,
  openAccount,
  raiseGrant,
} from "./rules/apply-accounts.ts";
import { addEvent, addMarket, endMarket } from "./rules/apply-markets.ts";
import { endOrder, openOrder, restOrder } from "./rules/apply-orders.ts";
import { settleTrade } from "./rules/apply-trade.ts";
import { applyChainEvent } from "./rules/chain/apply-chain-event.ts";
import type { State } from "./state.ts";
import type { Millis } from "./units.ts";

/** Writes what has happened into the state. Never refuses: what cannot be applied is a defect and throws. */
export function apply(state: State, event: DomainEvent, at: Millis): void {
  switch (event.kind) {
    case "orderPlaced":
      openOrder(state, event, at);
      break;
    case "orderTraded":
      settleTrade(state, event, at);
      break;
    case "orderRested":
      restOrder(state, event, at);
      break;
    case "orderCanceled":
    case "orderExpired":
      endOrder(state, event, at);
      break;
    case "grantMinted":
      mintGrant(state, event, at);
      break;
    case "accountOpened":
      openAccount(state, event);
      break;
    case "collateralIssued":
      issueCollateral(state, event, at);
      break;
    case "setsIssued":
      issueSets(state, event, at);
      break;
    case "grantRaised":
      raiseGrant(state, event);
      break;
    case "credentialsDerived":
      noteDerivation(state, event);
      break;
    case "eventCreated":
      addEvent(state, event, at);
      break;
    case "marketCreated":
      addMarket(state, event, at);
      break;
    case "marketClosed":
    case "marketResolved":
      endMarket(state, event, at);
      break;
    default:
      applyChainEvent(state, event, at);
  }
}
