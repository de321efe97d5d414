import { type DecodeFunctionDataReturnType, decodeFunctionData, parseAbi } from "viem/utils";
import { CONTRACT_ABIS } from "../../api/contract-abis.ts";
import { CONTRACTS } from "../../core/chain/contracts.ts";
import type { Address } from "../../core/commands.ts";
import { asHex } from "../hex.ts";

export const COLLATERAL = parseAbi(CONTRACT_ABIS.collateral);
export const TOKENS = parseAbi(CONTRACT_ABIS.conditionalTokens);
export const EXCHANGE = parseAbi(CONTRACT_ABIS.exchange);
export const ABIS = { collateral: COLLATERAL, conditionalTokens: TOKENS, exchange: EXCHANGE };

/** Calldata as its contract reads it. */
export type Decoded =
  | { readonly contract: "collateral"; readonly call: DecodeFunctionDataReturnType<typeof COLLATERAL> }
  | { readonly contract: "conditionalTokens"; readonly call: DecodeFunctionDataReturnType<typeof TOKENS> }
  | { readonly contract: "exchange"; readonly call: DecodeFunctionDataReturnType<typeof EXCHANGE> };

/** A decoded call to one of the contracts. */
export type CallTo<Contract> = Extract<Decoded, { readonly contract: Contract }>["call"];

/** Why calldata cannot be read: what reverts says of it. */
export interface Undecoded {
  readonly contract: null;
  readonly reason: string;
}

/** Whether an address is a contract's. */
export const isContract = (address: Address): boolean => ABI_OF.has(address);

/** What calldata asks of a contract, or why that is nothing which is modelled. Only for a contract's address. */
export function decodeInput(to: Address, input: string): Decoded | Undecoded {
  const found = ABI_OF.get(to);
  if (found === undefined) throw new Error(`${to} is no contract`);
  const { contract, name, abi } = found;
  try {
    return { contract, call: decodeFunctionData({ abi, data: asHex(input) }) } as Decoded;
  } catch {
    const selector = input.slice(0, SELECTOR);
    const known = abi.flatMap((item) => (item.type === "function" ? [item.name] : []));
    const reason =
      input.length < SELECTOR
        ? `clobsim: ${name} takes calls of its functions only`
        : `clobsim: ${name} has no function ${selector} with such arguments; modelled are ${known.join(", ")}`;
    return { contract: null, reason };
  }
}

/** `0x` and the four bytes that name a function. */
const SELECTOR = 10;

const ABI_OF: ReadonlyMap<
  Address,
  { readonly contract: string; readonly name: string; readonly abi: AnyAbi }
> = new Map([
  [CONTRACTS.collateral, { contract: "collateral", name: "the collateral", abi: COLLATERAL }],
  [
    CONTRACTS.conditionalTokens,
    { contract: "conditionalTokens", name: "the conditional tokens", abi: TOKENS },
  ],
  [CONTRACTS.exchange, { contract: "exchange", name: "the exchange", abi: EXCHANGE }],
] as const);

type AnyAbi = typeof COLLATERAL | typeof TOKENS | typeof EXCHANGE;
