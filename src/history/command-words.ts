import type { ChainCommand, Command, CommandOf } from "../core/commands.ts";
import {
  addressText,
  counted,
  marketText,
  orderIdText,
  orderText,
  priceText,
  sizeText,
  tokenIdText,
  usdcText,
} from "../core/format.ts";
import type { State } from "../core/state.ts";
import type { Address } from "../core/terms.ts";
import { toIso } from "../core/time.ts";
import { unreachable } from "../core/unreachable.ts";

/** Whose command it is; null of what nobody in particular does. */
export function actorOf(command: Command): Address | null {
  if ("address" in command) return command.address;
  return command.kind === "sendTransaction" ? command.from : null;
}

/** What is asked for, in the words of a person. */
export function commandText(command: Command, state: State): string {
  switch (command.kind) {
    case "placeOrder":
      return placeText(command, state);
    case "cancelOrder":
      return `cancel ${orderIdText(state, command.orderId)}`;
    case "cancelAllOrders":
      return "cancel all";
    case "deriveCredentials":
      return "derive credentials";
    case "fundAccount":
      return `fund ${fundText(command, state)}`;
    case "createEvent":
      return `create event ${JSON.stringify(command.title)}`;
    case "createMarket":
      return `create market ${command.slug}, tick ${priceText(command.tickSize)}, fee ${command.feeRateBps} bps`;
    case "closeMarket":
      return `close ${marketText(state, command.market)}`;
    case "resolveMarket":
      return `resolve ${marketText(state, command.market)} as ${command.winningOutcome}`;
    case "expireOrder":
      return `${orderText(command.order)} is due to expire`;
    case "produceBlock":
      return "a block is due";
    case "executeTransaction":
      return `transaction ${command.transaction} is due`;
    case "sealBlock":
      return "the block is whole";
    default:
      return chainText(command);
  }
}

function placeText(
  { side, size, tokenId, price, orderType, expiration }: CommandOf<"placeOrder">,
  state: State,
): string {
  const until = expiration === null ? "" : ` until ${toIso(expiration)}`;
  const type = orderType === "GTC" ? "" : ` ${orderType}`;
  const [outcome = "", ...place] = tokenIdText(state, tokenId).split(" ");
  return `${side} ${sizeText(size)} ${outcome} @ ${priceText(price)}${type}${until} ${place.join(" ")}`;
}

function fundText({ collateral, tokens, everyMarket }: CommandOf<"fundAccount">, state: State): string {
  const parts = [
    ...(collateral === 0 ? [] : [usdcText(collateral)]),
    ...tokens.map(({ tokenId, size }) => `${sizeText(size)} ${tokenIdText(state, tokenId)}`),
    ...(everyMarket === 0 ? [] : [`${sizeText(everyMarket)} of both outcomes of every market`]),
  ];
  return parts.join(", ") || "nothing";
}

function chainText(command: ChainCommand): string {
  switch (command.kind) {
    case "sendTransaction":
      return `send ${command.call.kind} to ${addressText(command.to)}`;
    case "mineBlocks":
      return `mine ${counted(command.count, "block")}`;
    case "reorganizeChain":
      return `reorganize ${counted(command.depth, "block")}`;
    case "setSettlementFault":
      return `set settlement fault ${command.fault}`;
    case "endSettlementFault":
      return command.number === null ? "end all settlement faults" : `end settlement fault ${command.number}`;
    case "bumpFees":
      return "raise the fees of pending transactions";
    case "setNativeBalance":
      return `set the native balance to ${command.wei} wei`;
    default:
      throw unreachable(command);
  }
}
