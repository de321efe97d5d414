import { readBalances } from "./balance-expectation.ts";
import { readBooks } from "./book-expectation.ts";
import { readChain } from "./chain-expectation.ts";
import { type ExpectationSource, saidEntries } from "./expectation-source.ts";
import { lookAt, readLines } from "./own-expectations.ts";
import { readHistories, readQuotes } from "./quote-expectation.ts";
import { readGolden, readStateHash } from "./record-expectation.ts";
import type { Expectation } from "./scenario.ts";
import { readTradeLine } from "./trade-line.ts";
import type { Entry } from "./yaml-tree.ts";

type Reader = (source: ExpectationSource, entry: Entry) => void;

const READERS: ReadonlyMap<string, Reader> = new Map([
  ["book", readBooks],
  ["trades", readTrades],
  ["orders", readOrders],
  ["balances", readBalances],
  ["quote", readQuotes],
  ["history", readHistories],
  ["chain", readChain],
  ["stateHash", readStateHash],
  ["golden", readGolden],
]);

/** Reads the mapping of an `expect` step, or of a race's `after`. */
export function readExpectations(
  source: Omit<ExpectationSource, "into">,
  { value }: Pick<Entry, "value">,
): readonly Expectation[] {
  const { page } = source.file;
  const into: Expectation[] = [];
  for (const entry of saidEntries(page, value, "what must be true")) {
    const { key } = entry;
    const read = READERS.get(key.value);
    if (read !== undefined) read({ ...source, into }, entry);
    else page.unknown(key.start, "key", key.value, READERS.keys());
  }
  return into;
}

function readTrades({ file, declared, into }: ExpectationSource, { key, value }: Entry): void {
  const lines = readLines(file, value, (line) => readTradeLine(line, declared));
  if (lines !== null) into.push({ kind: "trades", place: file.page.placeOf(key), trades: lines.value });
}

function readOrders({ file, declared, into }: ExpectationSource, { value }: Entry): void {
  const { page } = file;
  for (const { key, value: state } of saidEntries(page, value, "orders by name")) {
    const look = lookAt(file, state);
    const name = declared.orderNamed(page, key.start, key.value);
    if (name === null || look === null) continue;
    into.push({ kind: "order", place: page.placeOf(key), name, look: look.value });
  }
}
