import { availableOf, type Balance } from "../account.ts";
import type { Supply } from "../market.ts";
import type { State } from "../state.ts";
import type { Records } from "./records.ts";
import { type AccountTally, lastOf, type MarketTally, type Tallies, type Tally } from "./tallies.ts";

/** Whether accounts and markets say what transactions, orders and trades come to. @throws DocumentError for the first that does not. */
export function checkTallies(records: Records, state: State, { accounts, markets }: Tallies): void {
  for (const account of accounts) checkAccount(records, state, account);
  for (const market of markets) checkMarket(records, market);
  let issued = 0;
  for (const { collateral } of state.accounts) issued += collateral.balance;
  for (const { supply } of state.markets) issued += supply.collateral;
  if (issued === state.issued) return;
  throw records.wrong("issued", null, "", `${issued}, all balances and locked collateral`, state.issued);
}

function checkAccount(
  records: Records,
  { config }: State,
  { account, collateral, holdings }: AccountTally,
): void {
  const check = (path: string, balance: Balance<number>, tally: Tally): void => {
    const difference = tally.differenceTo(balance);
    if (difference !== null) {
      const [key, expected] = difference;
      const what = `${expected}, what orders and transactions come to`;
      throw records.wrong("accounts", account.number - 1, `${path}.${key}`, what, balance[key]);
    }
    if (availableOf(balance, config.balances) >= 0 && tally.mined >= 0) return;
    throw records.wrong(
      "accounts",
      account.number - 1,
      path,
      "enough for what is reserved and taken",
      balance,
    );
  };
  check(".collateral", account.collateral, collateral);
  let index = 0;
  for (const { holding, yes, no } of holdings.values()) {
    check(`.holdings[${index}].yes`, holding.yes, yes);
    check(`.holdings[${index}].no`, holding.no, no);
    index += 1;
  }
}

function checkMarket(records: Records, tally: MarketTally): void {
  const { market } = tally;
  const check = <Record extends object>(
    path: string,
    found: Record | null,
    expected: Record | null,
  ): void => {
    if (JSON.stringify(found) === JSON.stringify(expected)) return;
    throw records.wrong("markets", market.number - 1, path, `${JSON.stringify(expected)}`, found);
  };
  check<Supply>(".supply", market.supply, tally.supply);
  check<Supply>(".onChain", market.onChain, tally.onChain);
  check(".volume", market.volume, tally.volume);
  check(".liquidity", market.liquidity, tally.liquidity);
  for (const [index, { book, sequence, updatedAt, last }] of market.books.entries()) {
    const lane = tally.lanes[index] as MarketTally["lanes"][number];
    check(
      `.books[${index}]`,
      { sequence, updatedAt, last },
      { sequence: lane.sequence, updatedAt: lane.updatedAt, last: lastOf(lane) },
    );
    if (book === null || book.bestBid < book.bestAsk) continue;
    const levels = { bestBid: book.bestBid, bestAsk: book.bestAsk };
    throw records.wrong(
      "markets",
      market.number - 1,
      `.books[${index}]`,
      "open orders that do not cross",
      levels,
    );
  }
}
