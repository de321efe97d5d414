import type { ChainEvent, DomainEvent, EventOf } from "../core/events.ts";
import {
  accountText,
  addressText,
  counted,
  marketText,
  orderText,
  priceText,
  sizeText,
  usdcText,
} from "../core/format.ts";
import { remainingOf } from "../core/order.ts";
import type { State } from "../core/state.ts";
import { unreachable } from "../core/unreachable.ts";

/** More events than these are counted by their kinds. */
const MOST_TOLD = 6;

/** What a command has caused, in words; the state is that behind it. */
export function outcomeText(events: readonly DomainEvent[], state: State): string {
  const orders = new Set(events.flatMap((event) => (event.kind === "orderPlaced" ? [event.order] : [])));
  const canceled = events.filter((event) => event.kind === "orderCanceled" && !orders.has(event.order));
  const others = canceled.length > 1 ? events.filter((event) => !canceled.includes(event)) : events;
  const parts = others.flatMap((event) => eventText(event, state, orders) ?? []);
  const shown = parts.slice(0, MOST_TOLD);
  if (parts.length > MOST_TOLD) shown.push(`and ${parts.length - MOST_TOLD} more`);
  if (canceled.length > 1) shown.push(`canceled ${canceled.length}`);
  return shown.join(", ") || "nothing";
}

/** One event; null of what its command's words say already. `placed` are the orders that came with it. */
function eventText(event: DomainEvent, state: State, placed: ReadonlySet<number>): string | null {
  switch (event.kind) {
    case "orderPlaced":
      return orderText(event.order);
    case "orderTraded":
      return tradeText(event, state);
    case "orderRested": {
      const order = state.orders.get(event.order);
      return `rests ${sizeText(remainingOf(order))} @ ${priceText(order.price)}`;
    }
    case "orderCanceled":
      return canceledText(event, state, placed);
    case "orderExpired":
      return `expired with ${openText(state, event.order)} open`;
    case "accountOpened":
      return `account ${event.account}`;
    case "credentialsDerived":
      return "credentials derived";
    case "collateralIssued":
      return `gets ${usdcText(event.amount)}`;
    case "grantRaised":
      return `gets ${sizeText(event.size)} of both outcomes of every market`;
    case "grantMinted":
      return null;
    case "setsIssued":
      return `${sizeText(event.size)} sets of ${marketText(state, event.market)} issued`;
    case "eventCreated":
      return `event ${event.event}`;
    case "marketCreated":
      return `market ${event.market}`;
    case "marketClosed":
      return "closed";
    case "marketResolved":
      return `resolved as ${event.winningOutcome}`;
    default:
      return chainText(event);
  }
}

function tradeText({ size, price, maker, fee, matchType }: EventOf<"orderTraded">, state: State): string {
  const how = matchType === "COMPLEMENTARY" ? "" : ` ${matchType}`;
  const paid = fee === 0 ? "" : `, fee ${usdcText(fee)}`;
  const { account } = state.orders.get(maker);
  return `fills ${sizeText(size)} @ ${priceText(price)} from ${accountText(state, account)}${how}${paid}`;
}

function canceledText(
  { order, reason }: EventOf<"orderCanceled">,
  state: State,
  placed: ReadonlySet<number>,
): string {
  const open = openText(state, order);
  if (placed.has(order)) return `canceled ${open}, ${reason}`;
  return `canceled ${orderText(order)} with ${open} open${reason === "USER" ? "" : `, ${reason}`}`;
}

const openText = (state: State, order: number): string => sizeText(remainingOf(state.orders.get(order)));

function chainText(event: ChainEvent): string {
  switch (event.kind) {
    case "transactionSent":
      return `transaction ${event.transaction} pending`;
    case "blocksAsked":
      return `${counted(event.count, "block")} to be mined`;
    case "blocksMined":
      return `block ${event.height} mined${event.empty === 0 ? "" : ` and ${event.empty} empty`}`;
    case "blockOpened":
      return `block ${event.height} begun`;
    case "blockSealed":
      return `block ${event.height} mined`;
    case "transactionMined":
      return `transaction ${event.transaction} mined`;
    case "callExecuted":
      return `transaction ${event.transaction} carried out`;
    case "callReverted":
      return `transaction ${event.transaction} reverted: ${event.reason}`;
    case "transactionHeld":
      return `transaction ${event.transaction} put off, ${event.hold}`;
    case "settlementLost":
      return `transaction ${event.transaction} lost`;
    case "settlementFailed":
      return `transaction ${event.transaction} failed: ${event.reason}`;
    case "chainReorganized":
      return `${counted(event.depth, "block")} replaced`;
    case "settlementFaultSet":
      return `settlement fault ${event.number}`;
    case "settlementFaultEnded":
      return event.number === 0 ? "all faults ended" : `settlement fault ${event.number} ended`;
    case "feesBumped":
      return `fees of ${counted(event.transactions.length, "transaction")} raised`;
    case "nativeBalanceSet":
      return `${addressText(event.address)} has ${event.wei} wei`;
    default:
      throw unreachable(event);
  }
}
