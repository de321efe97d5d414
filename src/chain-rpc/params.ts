import { readAddress } from "../api/address.ts";
import { nameOf } from "../api/json-body.ts";
import type { Address } from "../core/commands.ts";
import { RpcError } from "./rpc-error.ts";

/** What a parameter is called in an error. */
type Name = string;

const wrong = (name: Name, expected: string, found: unknown): RpcError =>
  new RpcError("INVALID_PARAMS", `${name}: expected ${expected}, found ${nameOf(found)}`);

const HEX_QUANTITY = /^0x[0-9a-fA-F]{1,64}$/;
const DECIMAL_QUANTITY = /^[0-9]{1,78}$/;
const WORD_LIMIT = 1n << 256n;

/** A number of at most 256 bits: a hex quantity or, as anvil takes them, a whole number or its decimal text. */
export function readQuantity(value: unknown, name: Name): bigint {
  const isText = typeof value === "string" && (HEX_QUANTITY.test(value) || DECIMAL_QUANTITY.test(value));
  if (isText || (Number.isSafeInteger(value) && (value as number) >= 0)) {
    const number = BigInt(value as string | number);
    if (number < WORD_LIMIT) return number;
  }
  throw wrong(name, "a quantity such as 0x1f", value);
}

/** The same, small enough to be counted exactly: at most 2^53 - 1, or less. */
export function readCount(value: unknown, name: Name, most: number = Number.MAX_SAFE_INTEGER): number {
  const number = readQuantity(value, name);
  if (number <= BigInt(most)) return Number(number);
  throw new RpcError("INVALID_PARAMS", `${name}: at most ${most}, found ${number}`);
}

/** An address, in lower case. */
export function readAddressParam(value: unknown, name: Name): Address {
  const address = typeof value === "string" ? readAddress(value) : null;
  if (address === null) throw wrong(name, "an address of 20 bytes", value);
  return address;
}

const WORD = /^0x[0-9a-fA-F]{64}$/;
const BYTES = /^0x(?:[0-9a-fA-F]{2})*$/;

/** 32 bytes, in lower case. */
export function readHash(value: unknown, name: Name): string {
  if (typeof value === "string" && WORD.test(value)) return value.toLowerCase();
  throw wrong(name, "32 bytes in hex", value);
}

/** Any bytes, in lower case. */
export function readBytes(value: unknown, name: Name): `0x${string}` {
  if (typeof value === "string" && BYTES.test(value)) return value.toLowerCase() as `0x${string}`;
  throw wrong(name, "bytes in hex, two digits each", value);
}

/** true or false. */
export function readBoolean(value: unknown, name: Name): boolean {
  if (typeof value === "boolean") return value;
  throw wrong(name, "true or false", value);
}

/** An object, whatever it holds. */
export function readObject(value: unknown, name: Name): Readonly<Record<string, unknown>> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return value as Readonly<Record<string, unknown>>;
  }
  throw wrong(name, "an object", value);
}

/** What may be left out, as undefined or null. */
export const optional = <T>(
  value: unknown,
  name: Name,
  read: (value: unknown, name: Name) => T,
): T | undefined => (value === undefined || value === null ? undefined : read(value, name));
