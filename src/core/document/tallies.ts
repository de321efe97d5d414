import type { Account, Balance, Holding } from "../account.ts";
import { movesOf, supplyChangesOf, USDC } from "../chain/moves.ts";
import { awaitsBlock, type Transaction } from "../chain/transaction.ts";
import {
  emptySupply,
  type LastTrade,
  type Market,
  marketOfToken,
  outcomeOf,
  type Supply,
} from "../market.ts";
import { changeSupply } from "../rules/ledger.ts";
import type { State } from "../state.ts";
import type { Side } from "../terms.ts";
import type { Millis, Price } from "../units.ts";
import { emptySum, type Sum } from "../units.ts";
import type { Records } from "./records.ts";

/** What orders and transactions come to for one balance. */
export class Tally {
  /** What the chain has. */
  mined = 0;
  incoming = 0;
  outgoing = 0;
  reserved = 0;

  /** Takes in what a transaction moves that is in effect on the chain, or pending. */
  move(amount: number, isMined: boolean): void {
    if (isMined) this.mined += amount;
    else if (amount > 0) this.incoming += amount;
    else this.outgoing -= amount;
  }

  /** Which of a balance's fields says something else, and what it should say; null when none does. */
  differenceTo(balance: Balance<number>): [keyof Balance<number>, number] | null {
    const { mined, incoming, outgoing, reserved } = this;
    if (balance.incoming !== incoming) return ["incoming", incoming];
    if (balance.outgoing !== outgoing) return ["outgoing", outgoing];
    if (balance.reserved !== reserved) return ["reserved", reserved];
    const held = mined + incoming - outgoing;
    return balance.balance === held ? null : ["balance", held];
  }
}

/** What an account has in one market, and what it comes to. */
export interface HoldingTally {
  readonly holding: Holding;
  readonly yes: Tally;
  readonly no: Tally;
}

/** The same of a whole account. */
export interface AccountTally {
  readonly account: Account;
  readonly collateral: Tally;
  /** By market number. */
  readonly holdings: Map<number, HoldingTally>;
}

/** What happened to one book, in its own terms. */
export interface LaneTally {
  sequence: number;
  updatedAt: Millis;
  lastPrice: Price;
  lastSide: Side;
  /** When it traded last; null when it never did. */
  lastAt: Millis | null;
}

/** What orders and trades come to for one market. */
export interface MarketTally {
  readonly market: Market;
  readonly lanes: readonly LaneTally[];
  readonly volume: Sum;
  readonly liquidity: Sum;
  /** What is in the ledger, and what of it on the chain. */
  readonly supply: Supply;
  readonly onChain: Supply;
}

/** What all that happened comes to, by the numbers of accounts and markets, counted from 0: to be compared with what a document says. */
export class Tallies {
  readonly accounts: readonly AccountTally[];
  readonly markets: readonly MarketTally[];
  readonly #records: Records;

  constructor(state: State, records: Records) {
    this.#records = records;
    this.accounts = Array.from(state.accounts, (account) => ({
      account,
      collateral: new Tally(),
      holdings: new Map(
        Array.from(account.holdings, ([market, holding]) => [
          market,
          { holding, yes: new Tally(), no: new Tally() },
        ]),
      ),
    }));
    this.markets = Array.from(state.markets, (market) => ({
      market,
      lanes: market.books.map(() => laneOf(market)),
      volume: emptySum(),
      liquidity: emptySum(),
      supply: emptySupply(),
      onChain: emptySupply(),
    }));
  }

  /** What an account has in a market. @throws DocumentError when it has nothing there. */
  holding({ account, holdings }: AccountTally, market: number): HoldingTally {
    const holding = holdings.get(market);
    if (holding !== undefined) return holding;
    const expected = `a holding in market ${market}`;
    throw this.#records.wrong("accounts", account.number - 1, ".holdings", expected, undefined);
  }

  /** Takes in a transaction that is told by its content. */
  take(state: State, transaction: Transaction): void {
    const isMined = transaction.status === "MINED" || !awaitsBlock(transaction);
    if (!isMined && transaction.status !== "PENDING") return;
    for (const { account, token, amount } of movesOf(state, transaction)) {
      const tally = this.accounts[account - 1] as AccountTally;
      this.#tallyIn(tally, token).move(amount, isMined);
    }
    for (const change of supplyChangesOf(state, transaction)) {
      const { supply, onChain } = this.markets[change.market - 1] as MarketTally;
      changeSupply(supply, change);
      if (isMined) changeSupply(onChain, change);
    }
  }

  #tallyIn(tally: AccountTally, token: number): Tally {
    if (token === USDC) return tally.collateral;
    const { yes, no } = this.holding(tally, marketOfToken(token));
    return outcomeOf(token) === "YES" ? yes : no;
  }
}

const laneOf = ({ createdAt }: Market): LaneTally => ({
  sequence: 0,
  updatedAt: createdAt,
  lastPrice: 0 as Price,
  lastSide: "BUY",
  lastAt: null,
});

/** How a book last traded, as a market says it. */
export const lastOf = ({ lastPrice, lastSide, lastAt }: LaneTally): LastTrade | null =>
  lastAt === null ? null : { price: lastPrice, side: lastSide, at: lastAt };
