import type { Address } from "../../core/commands.ts";
import { optional, readAddressParam, readHash } from "../params.ts";
import { RpcError } from "../rpc-error.ts";
import type { Log } from "./log.ts";

/** Which logs are wanted; null stands for any. */
export interface LogQuery {
  readonly addresses: ReadonlySet<Address> | null;
  /** For each place, what may stand there. */
  readonly topics: readonly (ReadonlySet<string> | null)[];
}

const MOST_TOPICS = 4;
/** How many values one place of a query may name. */
const MOST_VALUES = 1_000;

/** Reads what addresses and topics a client asks for. @throws RpcError */
export function readLogQuery({ address, topics }: Readonly<Record<string, unknown>>): LogQuery {
  const places = optional(topics, "topics", readList) ?? [];
  if (places.length > MOST_TOPICS) {
    throw new RpcError("INVALID_PARAMS", `topics: a log has at most ${MOST_TOPICS}, found ${places.length}`);
  }
  return {
    addresses: optional(address, "address", (value, name) => readAny(value, name, readAddressParam)) ?? null,
    topics: places.map(
      (place, index) =>
        optional(place, `topics[${index}]`, (value, name) => readAny(value, name, readHash)) ?? null,
    ),
  };
}

function readList(value: unknown, name: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new RpcError("INVALID_PARAMS", `${name}: expected an array`);
}

/** One value or a list of them; a list that is empty, or has a null in it, is any. */
function readAny(
  value: unknown,
  name: string,
  read: (value: unknown, name: string) => string,
): ReadonlySet<string> | null {
  const values = Array.isArray(value) ? value : [value];
  if (values.length > MOST_VALUES) {
    throw new RpcError("LIMIT_EXCEEDED", `${name}: at most ${MOST_VALUES} values, found ${values.length}`);
  }
  if (values.length === 0 || values.includes(null)) return null;
  return new Set(values.map((each) => read(each, name)));
}

/** Whether a log is one of those that are wanted. */
export function isWanted({ addresses, topics }: LogQuery, log: Log): boolean {
  if (addresses !== null && !addresses.has(log.address)) return false;
  return topics.every((place, index) => {
    if (place === null) return index < log.topics.length;
    const topic = log.topics[index];
    return topic !== undefined && place.has(topic);
  });
}
