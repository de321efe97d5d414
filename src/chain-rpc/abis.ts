import { encodeErrorResult, parseAbi, toEventSelector } from "viem/utils";
import { CONTRACT_ABIS } from "../api/contracts.ts";
import { CONTRACTS, numberWord } from "../core/chain/contracts.ts";
import type { Address } from "../core/terms.ts";
import { RpcError } from "./json-rpc.ts";

export const COLLATERAL = parseAbi(CONTRACT_ABIS.collateral);
export const TOKENS = parseAbi(CONTRACT_ABIS.conditionalTokens);
export const EXCHANGE = parseAbi(CONTRACT_ABIS.exchange);

export const MULTICALL = parseAbi([
  "struct Call { address target; bytes callData; }",
  "struct Call3 { address target; bool allowFailure; bytes callData; }",
  "struct Result { bool success; bytes returnData; }",
  "function aggregate(Call[] calls) payable returns (uint256 blockNumber, bytes[] returnData)",
  "function aggregate3(Call3[] calls) payable returns (Result[] returnData)",
  "function tryAggregate(bool requireSuccess, Call[] calls) payable returns (Result[] returnData)",
  "function blockAndAggregate(Call[] calls) payable returns (uint256 blockNumber, bytes32 blockHash, Result[] returnData)",
  "function tryBlockAndAggregate(bool requireSuccess, Call[] calls) payable returns (uint256 blockNumber, bytes32 blockHash, Result[] returnData)",
  "function getBasefee() view returns (uint256 basefee)",
  "function getBlockHash(uint256 blockNumber) view returns (bytes32 blockHash)",
  "function getBlockNumber() view returns (uint256 blockNumber)",
  "function getChainId() view returns (uint256 chainid)",
  "function getCurrentBlockCoinbase() view returns (address coinbase)",
  "function getCurrentBlockGasLimit() view returns (uint256 gaslimit)",
  "function getCurrentBlockTimestamp() view returns (uint256 timestamp)",
  "function getEthBalance(address addr) view returns (uint256 balance)",
  "function getLastBlockHash() view returns (bytes32 blockHash)",
]);

/** ABIs of the contracts that emit logs. */
type LoggingAbi = typeof COLLATERAL | typeof TOKENS | typeof EXCHANGE;
export type AnyAbi = LoggingAbi | typeof MULTICALL;

/** A log of a contract, without its position in a block. */
export interface Log {
  readonly address: Address;
  /** Each is `0x` and 64 lower-case hex digits; the first identifies the event. */
  readonly topics: readonly string[];
  readonly data: string;
}

type EventName<Abi extends LoggingAbi> = Extract<Abi[number], { readonly type: "event" }>["name"];

/** An input of an event: an address or bytes in hex; a number, its decimal text or its 32 bytes in hex; a boolean; or a list. */
type Input = string | number | bigint | boolean | readonly Input[];

type Emit = (...inputs: readonly Input[]) => Log;

/** Encodes an address in lower case as 32 bytes, in 64 hex digits. */
export const addressWord = (address: string): string => `000000000000000000000000${address.slice(2)}`;

/** Encoders of each type to 32 bytes, in 64 hex digits. */
const WORD_ENCODERS: Readonly<Record<string, (input: never) => string>> = {
  address: addressWord,
  bytes32: (hex: string) => hex.slice(2),
  uint256: (value: number | bigint | string) => {
    if (typeof value !== "string") return numberWord(value);
    return value.startsWith("0x") ? value.slice(2) : numberWord(BigInt(value));
  },
  bool: (value: boolean) => numberWord(Number(value)),
};

const WORD_BYTES = 32;

/** Returns the event encoders of a contract. They are written by hand because logs are built by the million. */
function eventsOf<Abi extends LoggingAbi>(address: Address, abi: Abi) {
  const events: Record<string, Emit> = {};
  for (const item of abi) {
    if (item.type !== "event") continue;
    const topic = toEventSelector(item);
    const inputs = item.inputs.map(({ type, ...rest }) => {
      const wordOf = WORD_ENCODERS[type.replace("[]", "")] as (input: Input) => string;
      return { wordOf, isIndexed: "indexed" in rest && rest.indexed === true };
    });
    const headBytes = WORD_BYTES * inputs.filter(({ isIndexed }) => !isIndexed).length;
    events[item.name] = (...values) => {
      const topics: string[] = [topic];
      let head = "0x";
      let tail = "";
      for (let index = 0; index < inputs.length; index += 1) {
        const { wordOf, isIndexed } = inputs[index] as (typeof inputs)[number];
        const value = values[index] as Input;
        if (Array.isArray(value)) {
          head += numberWord(headBytes + tail.length / 2);
          tail += numberWord(value.length) + value.map(wordOf).join("");
        } else if (isIndexed) topics.push(`0x${wordOf(value)}`);
        else head += wordOf(value);
      }
      return { address, topics, data: head + tail };
    };
  }
  return events as Readonly<Record<EventName<Abi>, Emit>>;
}

export const collateralEvents = eventsOf(CONTRACTS.collateral, COLLATERAL);
export const tokenEvents = eventsOf(CONTRACTS.conditionalTokens, TOKENS);
export const exchangeEvents = eventsOf(CONTRACTS.exchange, EXCHANGE);

const EVENTS = [...COLLATERAL, ...TOKENS, ...EXCHANGE].filter((item) => item.type === "event");

/** The first topic of each event. */
export const TOPICS = Object.fromEntries(
  EVENTS.map((event) => [event.name, toEventSelector(event)]),
) as Readonly<Record<(typeof EVENTS)[number]["name"], string>>;

/** The error with which Solidity contracts revert with a reason. */
const ERROR = [{ type: "error", name: "Error", inputs: [{ name: "message", type: "string" }] }] as const;

export function reverted(reason: string): RpcError {
  const data = encodeErrorResult({ abi: ERROR, errorName: "Error", args: [reason] });
  return new RpcError("EXECUTION_REVERTED", `execution reverted: ${reason}`, data);
}
