import { describe, expect, it } from "vitest";
import type { Account, Holding } from "../../../src/core/account.ts";
import { ASK, BID, type Book } from "../../../src/core/book/book.ts";
import { invariants, violations } from "../../../src/core/invariants/invariants.ts";
import { findAccount } from "../../../src/core/state.ts";
import { money, size } from "../../../src/core/units.ts";
import { addressOf } from "../../support/commands.ts";
import { openFloor, TestExchange } from "../../support/exchange.ts";

const CONSERVED = "USDC issued = balances + locked collateral";
const BACKED = "supply of YES = supply of NO = locked collateral";
const SOLVENT = "no balance is negative or over-reserved";
const RESERVED = "reserved = what live orders may cost";
const LEVELS = "book levels = sum of live orders";
const CROSSED = "no book is crossed";
const ARRIVAL = "queues are in order of arrival";
const FILLS = "an order's matched size = sum of its fills";
const LISTED = "an account's open orders = its live orders";
const ON_CHAIN = "chain balances + pending = ledger";
const BLOCKS = "blocks = what was mined";

/** Orders 1 and 2 bid at 0.5, order 3 asks at 0.6 as NO, order 4 has traded 3 with order 1. */
function tradedFloor() {
  const floor = openFloor({ feeRateBps: 100 });
  floor.send(
    "alice BUY 10 YES @ 0.5",
    "bob BUY 5 YES @ 0.5",
    "carol BUY 5 NO @ 0.4",
    "carol SELL 3 YES @ 0.5",
  );
  const { markets, orders } = floor.state;
  const account = findAccount(floor.state, addressOf("alice")) as Account;
  const market = markets.get(1);
  const holding = account.holdings.get(1) as Holding;
  const book = market.books[0].book as Book;
  return { state: floor.state, account, holding, market, book, order: orders.get(1) };
}

type Traded = ReturnType<typeof tradedFloor>;

interface Fault {
  readonly fault: string;
  readonly plant: (parts: Traded) => void;
  /** The invariants that no longer hold. */
  readonly found: readonly string[];
}

const FAULTS: readonly Fault[] = [
  {
    fault: "a micro-USDC too much",
    plant: ({ account: { collateral } }) => {
      collateral.balance = money(collateral.balance + 1);
    },
    found: [CONSERVED, ON_CHAIN],
  },
  {
    fault: "a share of YES too much",
    plant: ({ holding }) => {
      holding.yes.balance = size(holding.yes.balance + 1);
    },
    found: [BACKED, ON_CHAIN],
  },
  {
    fault: "a share of NO too little",
    plant: ({ holding }) => {
      holding.no.balance = size(holding.no.balance - 1);
    },
    found: [BACKED, ON_CHAIN],
  },
  {
    fault: "a supply that nobody holds",
    plant: ({ market }) => {
      market.supply.yes = size(market.supply.yes + 1);
    },
    found: [BACKED],
  },
  {
    fault: "a negative balance",
    plant: ({ holding: { no }, market }) => {
      market.supply.no = size(market.supply.no - no.balance - 1);
      no.balance = size(-1);
    },
    found: [BACKED, SOLVENT, ON_CHAIN],
  },
  {
    fault: "a locked USDC that no share is worth",
    plant: ({ market }) => {
      market.supply.collateral = money(market.supply.collateral + 1);
    },
    found: [CONSERVED, BACKED],
  },
  {
    fault: "a share that is on its way and that no settlement brings",
    plant: ({ holding }) => {
      holding.yes.incoming = size(holding.yes.incoming + 1);
    },
    found: [ON_CHAIN],
  },
  {
    fault: "USDC on the way out that no settlement takes",
    plant: ({ account: { collateral } }) => {
      collateral.outgoing = money(collateral.outgoing + 1);
    },
    found: [ON_CHAIN],
  },
  {
    fault: "a supply that the chain has not seen",
    plant: ({ market }) => {
      market.onChain.no = size(market.onChain.no + 1);
    },
    found: [ON_CHAIN],
  },
  {
    fault: "a settlement that is in no block and says it is",
    plant: ({ state }) => {
      state.chain.transactions.get(state.chain.transactions.size).block = 1;
    },
    found: [BLOCKS],
  },
  {
    fault: "a wrong count of what is pending",
    plant: ({ state }) => {
      state.chain.pending += 1;
    },
    found: [BLOCKS],
  },
  {
    fault: "more reserved than there is",
    plant: ({ account: { collateral } }) => {
      collateral.reserved = money(collateral.balance + 1);
    },
    found: [SOLVENT, RESERVED],
  },
  {
    fault: "a negative reservation",
    plant: ({ holding: { yes } }) => {
      yes.reserved = size(-1);
    },
    found: [SOLVENT, RESERVED],
  },
  {
    fault: "a reservation that no order explains",
    plant: ({ account: { collateral } }) => {
      collateral.reserved = money(collateral.reserved + 1);
    },
    found: [RESERVED],
  },
  {
    fault: "a level that holds less than its orders",
    plant: ({ book, order }) => book.fill(order.slot, 1),
    found: [LEVELS],
  },
  {
    fault: "an order that is live but not in the book",
    plant: ({ book, order }) => book.remove(order.slot),
    found: [LEVELS],
  },
  {
    fault: "an order in the book at another price",
    plant: ({ book, order }) => {
      book.remove(order.slot);
      order.slot = book.rest(BID, 49, 700, 1, order.account);
    },
    found: [LEVELS],
  },
  {
    fault: "a liquidity that the book does not have",
    plant: ({ market }) => {
      market.liquidity.micro += 1;
    },
    found: [LEVELS],
  },
  {
    fault: "a crossed book",
    plant: ({ book, order }) => void book.rest(ASK, 50, 1, 5, order.account),
    found: [LEVELS, CROSSED],
  },
  {
    fault: "an order that jumped the queue",
    plant: ({ book, order }) => {
      book.remove(order.slot);
      order.slot = book.rest(BID, 50, 700, 1, order.account);
    },
    found: [ARRIVAL],
  },
  {
    fault: "an order that matched more than its fills",
    plant: ({ order }) => {
      order.matched = size(order.matched + 1);
    },
    found: [RESERVED, LEVELS, FILLS],
  },
  {
    fault: "an order that is filled whole and live",
    plant: ({ state }) => {
      state.orders.get(4).status = "LIVE";
    },
    found: [LEVELS, FILLS, LISTED],
  },
  {
    fault: "a live order that its account does not list",
    plant: ({ account }) => {
      account.firstOpen = 0;
    },
    found: [LISTED],
  },
  {
    fault: "an account that lists somebody else's order",
    plant: ({ account }) => {
      account.firstOpen = 2;
    },
    found: [LISTED],
  },
  {
    fault: "two orders in each other's place in the book",
    plant: ({ state, order }) => {
      const other = state.orders.get(2);
      [order.slot, other.slot] = [other.slot, order.slot];
    },
    found: [LEVELS],
  },
  {
    fault: "a wrong count of open orders",
    plant: ({ account }) => {
      account.openCount = 2;
    },
    found: [LISTED],
  },
];

describe("the invariants", () => {
  it.each(FAULTS)("find $fault", ({ plant, found }) => {
    const parts = tradedFloor();
    plant(parts);
    const broken = violations(parts.state);
    expect(broken.map(({ name }) => name)).toEqual(found);
    for (const { differences } of broken) expect(differences.length).toBeGreaterThan(0);
  });

  it("hold where nothing has happened and where much has", () => {
    expect(violations(new TestExchange().state)).toEqual([]);
    expect(violations(tradedFloor().state)).toEqual([]);
  });

  it("say how much they have compared", () => {
    for (const { name, checked } of invariants(tradedFloor().state)) expect(checked, name).toBeGreaterThan(0);
  });
});
