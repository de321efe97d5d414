import { encodeErrorResult, parseAbi, toEventSelector } from "viem/utils";
import { CONTRACT_ABIS } from "../api/contract-abis.ts";
import { CONTRACTS } from "../core/chain/contracts.ts";
import type { Address } from "../core/terms.ts";
import { addressWord, numberWord } from "./encoding.ts";
import { RpcError } from "./json-rpc.ts";

export const COLLATERAL = parseAbi(CONTRACT_ABIS.collateral);
export const TOKENS = parseAbi(CONTRACT_ABIS.conditionalTokens);
export const EXCHANGE = parseAbi(CONTRACT_ABIS.exchange);

export type AnyAbi = typeof COLLATERAL | typeof TOKENS | typeof EXCHANGE;

/** A log of a contract; its place in a block follows from its transaction's. */
export interface Log {
  readonly address: Address;
  /** Each `0x` and 64 lower-case hex digits; the first names the event. */
  readonly topics: readonly string[];
  readonly data: string;
}

type EventName<Abi extends AnyAbi> = Extract<Abi[number], { readonly type: "event" }>["name"];

/** Encodes a log of one event: 64 hex digits for each of its inputs, or a list of them for an array. */
type Emit = (...values: readonly (string | readonly string[])[]) => Log;

/** The event encoders of a contract, written out after Solidity's ABI because logs are made by the million. */
function eventsOf<Abi extends AnyAbi>(address: Address, abi: Abi): Readonly<Record<EventName<Abi>, Emit>> {
  const events: Record<string, Emit> = {};
  for (const item of abi) {
    if (item.type !== "event") continue;
    const topic = toEventSelector(item);
    const isIndexed = item.inputs.map((input) => "indexed" in input && input.indexed === true);
    events[item.name] = (...values) => encodeLog(address, topic, isIndexed, values);
  }
  return events as Record<EventName<Abi>, Emit>;
}

/** The first topic of each event's logs. */
function topicsOf<Abi extends AnyAbi>(abi: Abi): Readonly<Record<EventName<Abi>, string>> {
  const events = abi.flatMap((item) => (item.type === "event" ? [[item.name, toEventSelector(item)]] : []));
  return Object.fromEntries(events) as Record<EventName<Abi>, string>;
}

const WORD_BYTES = 32;

function encodeLog(
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

/** The event encoders by contract. */
export const collateralEvents = eventsOf(CONTRACTS.collateral, COLLATERAL);
export const tokenEvents = eventsOf(CONTRACTS.conditionalTokens, TOKENS);
export const exchangeEvents = eventsOf(CONTRACTS.exchange, EXCHANGE);

export const TOPICS = { ...topicsOf(COLLATERAL), ...topicsOf(TOKENS), ...topicsOf(EXCHANGE) };

/** A transfer of USDC, in micro-USDC. */
export const transfer = (from: Address, to: Address, amount: number | bigint): Log =>
  collateralEvents.Transfer(addressWord(from), addressWord(to), numberWord(amount));

/** What every contract of Solidity reverts with when it says why. */
const ERROR = [{ type: "error", name: "Error", inputs: [{ name: "message", type: "string" }] }] as const;

/** The error of a call that reverts. */
export function reverted(reason: string): RpcError {
  const data = encodeErrorResult({ abi: ERROR, errorName: "Error", args: [reason] });
  return new RpcError("EXECUTION_REVERTED", `execution reverted: ${reason}`, data);
}
