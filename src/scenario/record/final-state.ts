import type { Holding } from "../../core/account.ts";
import { settlementStatus } from "../../core/chain/settlement.ts";
import { moneyText, sizeText } from "../../core/format.ts";
import type { Market } from "../../core/market.ts";
import { orderStateText } from "../run/words.ts";
import { book } from "../venue/local-views.ts";
import { orderEntries } from "./expectations.ts";
import { RecordingError } from "./recording-error.ts";
import type { ToldSession } from "./told-session.ts";
import type { Twin } from "./twin.ts";

/**
 * Sees that the steps of a scenario come to what the session came to. They do not where the session depended on what was
 * on its way before it began, on the order of the nonces or on the fees of a wallet, none of which a scenario has.
 * @throws RecordingError naming what comes out differently.
 */
export function refuseDivergence(told: ToldSession, twin: Twin): void {
  for (const difference of differences(told, twin)) {
    throw new RecordingError(
      "SESSION_NOT_RECORDABLE",
      `a scenario of this session would end with another state: ${difference}. It depends on what was pending when the session began, or on nonces and fees of wallets, which no step says`,
    );
  }
}

function* differences(
  { session, words, names, markets, actors }: ToldSession,
  twin: Twin,
): Generator<string> {
  const { end } = session;
  for (const [transaction, own] of twin.transactions) {
    const before = settlementStatus(end, end.chain.transactions.get(transaction));
    const after = settlementStatus(twin.state, twin.state.chain.transactions.get(own));
    const { firstTrade } = end.chain.transactions.get(transaction);
    const order = end.trades.get(firstTrade).taker - session.opening.orders.size;
    if (before !== after) yield `the settlement of its order ${order} is ${after} instead of ${before}`;
  }
  const looks = orderEntries(session, names);
  for (const [index, number] of [...names.keys()].entries()) {
    const { status, matched, size, cancelReason: reason } = twin.orderOf(number);
    const [name, look] = looks[index] ?? ["", ""];
    const own = orderStateText({ status, matched, size, reason });
    if (own !== look) yield `${name} is ${own} instead of ${look}`;
  }
  for (const number of actors) {
    const name = words.account(number);
    const [account, own] = [end.accounts.get(number), twin.accountOf(name)];
    const [before, after] = [account.collateral.balance, own.collateral.balance];
    if (before !== after) yield `${name} has ${moneyText(after)} USDC instead of ${moneyText(before)}`;
    for (const market of markets) {
      const held = sharesText(account.holdings.get(market.number));
      const there = sharesText(own.holdings.get(twin.marketNumber(market.name)));
      if (held !== there) yield `${name} has ${there} of ${market.name} instead of ${held}`;
    }
  }
  for (const { name, after } of markets) {
    const own = twin.state.markets.get(twin.marketNumber(name));
    if (bookText(after) !== bookText(own)) yield `the book of ${name} is another`;
  }
}

const sharesText = (holding: Holding | undefined): string =>
  `${sizeText(holding?.yes.balance ?? 0)} YES and ${sizeText(holding?.no.balance ?? 0)} NO`;

const bookText = (market: Market): string => JSON.stringify([book(market, "YES"), book(market, "NO")]);
