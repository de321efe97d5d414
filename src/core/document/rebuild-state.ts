import { conditionIdOf, tokenIdOf } from "../chain/position-ids.ts";
import { idOf } from "../ids.ts";
import { type EventRecord, type Market, tokenOf } from "../market.ts";
import { Numbered } from "../numbered.ts";
import { createState, type State } from "../state.ts";
import { checkTallies } from "./check-tallies.ts";
import { Chronicle } from "./chronicle.ts";
import { rebuildChain } from "./rebuild-chain.ts";
import { checkOrders, rebuildOrders } from "./rebuild-orders.ts";
import { rebuildTrades } from "./rebuild-trades.ts";
import type { Records } from "./records.ts";
import { Tallies } from "./tallies.ts";

/**
 * The state that records tell of, with all that follows from them. What a record says that follows from others, too,
 * must be what follows.
 * @throws DocumentError that names the record that contradicts others, or refers to none.
 */
export function rebuildState(records: Records): State {
  const state = emptyState(records);
  rebuildEvents(records, state);
  rebuildMarkets(records, state);
  rebuildAccounts(records, state);
  const tallies = new Tallies(state, records);
  const chronicle = new Chronicle(records, state, tallies);
  rebuildOrders(records, state, tallies);
  rebuildTrades(records, state, tallies, chronicle);
  checkOrders(records, state);
  rebuildChain(records, state);
  checkTallies(records, state, tallies);
  return state;
}

/** A state that knows its configuration alone, without the accounts and the block that a new one has. */
function emptyState(records: Records): State {
  const { config } = records;
  const [first] = records.blocks;
  if (first === undefined) throw records.wrong("blocks", null, "", "at least one block", []);
  const fresh = createState(config, first.at);
  for (const { number, address } of fresh.accounts) {
    const found = records.accounts[number - 1]?.address;
    if (found !== address)
      throw records.wrong("accounts", number - 1, ".address", JSON.stringify(address), found);
  }
  const { digestA, digestB, digestC, digestD } = fresh.chain.blocks.get(1);
  const digest = [digestA, digestB, digestC, digestD];
  if (first.digest.some((word, index) => word !== digest[index])) {
    throw records.wrong("blocks", 0, ".digest", JSON.stringify(digest), first.digest);
  }
  return {
    ...fresh,
    accounts: new Numbered(),
    accountByAddress: new Map(),
    chain: { ...fresh.chain, blocks: new Numbered(), heights: new Numbered() },
    issued: records.issued,
  };
}

function rebuildEvents(records: Records, state: State): void {
  const expected = marketsByEvent(records);
  for (const [index, { record, id }] of records.events.entries()) {
    const demand = (isTrue: boolean, path: string, what: string, found: unknown): void => {
      if (!isTrue) throw records.wrong("events", index, path, what, found);
    };
    const { number, slug, markets } = record;
    const ownId = idOf(state.idPrefixes.event, number);
    demand(id === ownId, ".id", JSON.stringify(ownId), id);
    demand(!state.eventBySlug.has(slug), ".slug", "a slug that none before has", slug);
    const own = expected[index] ?? [];
    const isSame = markets.length === own.length && own.every((each, at) => markets[at] === each);
    demand(isSame, ".markets", `the numbers of its markets, ${JSON.stringify(own)}`, markets);
    state.eventBySlug.set(slug, state.events.add(record as EventRecord));
  }
}

/** The numbers of each event's markets. */
function marketsByEvent(records: Records): number[][] {
  const found: number[][] = records.events.map(() => []);
  for (const [index, { record }] of records.markets.entries()) {
    const event = found[record.event - 1];
    if (event === undefined)
      throw records.wrong("markets", index, ".event", "the number of an event", record.event);
    event.push(record.number);
  }
  return found;
}

function rebuildMarkets(records: Records, state: State): void {
  for (const [index, { record, id }] of records.markets.entries()) {
    checkMarket(records, state, index, record, id);
    const number = state.markets.add(record);
    state.marketBySlug.set(record.slug, number);
    state.marketByConditionId.set(record.conditionId, number);
    state.tokenById.set(record.tokenIds[0], tokenOf(number, "YES"));
    state.tokenById.set(record.tokenIds[1], tokenOf(number, "NO"));
  }
}

/** What follows from the seed and the number, and what no two markets share. */
function checkMarket(records: Records, state: State, index: number, market: Market, id: string): void {
  const demand = (found: string, path: string, expected: string): void => {
    if (found !== expected) throw records.wrong("markets", index, path, JSON.stringify(expected), found);
  };
  const { number, slug, conditionId, tokenIds } = market;
  demand(id, ".id", idOf(state.idPrefixes.market, number));
  if (state.marketBySlug.has(slug))
    throw records.wrong("markets", index, ".slug", "a slug that none before has", slug);
  demand(conditionId, ".conditionId", conditionIdOf(state.config.seed, number));
  demand(tokenIds[0], ".tokenIds[0]", tokenIdOf(conditionId, "YES"));
  demand(tokenIds[1], ".tokenIds[1]", tokenIdOf(conditionId, "NO"));
}

function rebuildAccounts(records: Records, state: State): void {
  for (const [index, account] of records.accounts.entries()) {
    const { address, holdings } = account;
    if (state.accountByAddress.has(address))
      throw records.wrong("accounts", index, ".address", "an address that none before has", address);
    for (const [at, market] of [...holdings.keys()].entries()) {
      if (market > state.markets.size)
        throw records.wrong("accounts", index, `.holdings[${at}].market`, "the number of a market", market);
    }
    state.accountByAddress.set(address, state.accounts.add(account));
  }
}
