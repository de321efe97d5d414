import { toEventSelector } from "viem/utils";
import { CONTRACTS } from "../../core/chain/contracts.ts";
import type { Address } from "../../core/commands.ts";
import { COLLATERAL, EXCHANGE, TOKENS } from "../contracts/abis.ts";
import { addressWord, numberWord } from "../hex.ts";
import type { Log } from "./log.ts";

type AnyAbi = typeof COLLATERAL | typeof TOKENS | typeof EXCHANGE;
type EventName<Abi extends AnyAbi> = Extract<Abi[number], { readonly type: "event" }>["name"];

/** What becomes a log of one event: 64 hex digits for each of its inputs, or a list of them for an array. */
type Emit = (...values: readonly (string | readonly string[])[]) => Log;

/** The events of a contract. Encoding is written out here, for logs are made by the million: after the ABI of Solidity. */
function eventsOf<Abi extends AnyAbi>(address: Address, abi: Abi): Readonly<Record<EventName<Abi>, Emit>> {
  const events: Record<string, Emit> = {};
  for (const item of abi) {
    if (item.type !== "event") continue;
    const topic = toEventSelector(item);
    const isIndexed = item.inputs.map((input) => "indexed" in input && input.indexed === true);
    events[item.name] = (...values) => logOf(address, topic, isIndexed, values);
  }
  return events as Record<EventName<Abi>, Emit>;
}

/** What names an event of a contract: the first topic of its logs. */
function topicsOf<Abi extends AnyAbi>(abi: Abi): Readonly<Record<EventName<Abi>, string>> {
  const events = abi.flatMap((item) => (item.type === "event" ? [[item.name, toEventSelector(item)]] : []));
  return Object.fromEntries(events) as Record<EventName<Abi>, string>;
}

const WORD_BYTES = 32;

function logOf(
  address: Address,
  topic: string,
  isIndexed: readonly boolean[],
  values: readonly (string | readonly string[])[],
): Log {
  const topics = [topic];
  let head = "";
  let tail = "";
  const inData = values.filter((_value, index) => isIndexed[index] === false);
  for (const [index, value] of values.entries()) {
    if (isIndexed[index] === true) topics.push(`0x${value as string}`);
    else if (typeof value === "string") head += value;
    else {
      head += numberWord(inData.length * WORD_BYTES + tail.length / 2);
      tail += numberWord(value.length) + value.join("");
    }
  }
  return { address, topics, data: `0x${head}${tail}` };
}

/** The events of each contract, as logs. */
export const collateralEvents = eventsOf(CONTRACTS.collateral, COLLATERAL);
export const tokenEvents = eventsOf(CONTRACTS.conditionalTokens, TOKENS);
export const exchangeEvents = eventsOf(CONTRACTS.exchange, EXCHANGE);

/** What names each event. */
export const TOPICS = { ...topicsOf(COLLATERAL), ...topicsOf(TOKENS), ...topicsOf(EXCHANGE) };

/** USDC changes hands; in micro-USDC, which are the collateral's own units. */
export const transfer = (from: Address, to: Address, amount: number | bigint): Log =>
  collateralEvents.Transfer(addressWord(from), addressWord(to), numberWord(amount));
