import type { Address } from "../../core/commands.ts";

/** What a contract has told of a transaction: its place in a block follows from the transaction's. */
export interface Log {
  readonly address: Address;
  /** Each `0x` and 64 lower-case hex digits; the first names the event. */
  readonly topics: readonly string[];
  readonly data: string;
}
