import type { ExchangeClient } from "../../src/client/client.ts";
import { orThrow } from "../../src/client/result.ts";
import type { RunningServer } from "../../src/compose.ts";
import { mulberry32 } from "../bench/flow.ts";
import { clientOn } from "../cli/tools.ts";
import type { Level } from "./browser.ts";

export interface Book {
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
}

/**
 * Two wallets trade a new market at random: orders, cancels, refusals, clock changes and blocks. The books are read
 * after each request, and returned by sequence.
 */
export async function tradeAtRandom(server: RunningServer, seed: number, requests: number) {
  const below = mulberry32(seed);
  const clients = [await clientOn(server.url, "1"), await clientOn(server.url, "2")] as const;
  const [{ control }] = clients;
  const { slug, tokens } = orThrow(await control.createMarket({ question: "Will it rain at random?" }));
  const [yes, no] = tokens.map(({ tokenId }) => tokenId) as [string, string];
  for (const { credentials } of clients) {
    const address = credentials?.address ?? "";
    orThrow(await control.fund(address, { collateral: 100_000, tokens: { [yes]: 10_000, [no]: 10_000 } }));
  }
  const books = new Map<number, readonly [yes: Book, no: Book]>();
  for (let count = 0; count < requests; count += 1) {
    const client = clients[below(2)] as ExchangeClient;
    const choice = below(20);
    if (choice < 15) {
      await client.place({
        tokenId: below(2) === 0 ? yes : no,
        side: below(2) === 0 ? "BUY" : "SELL",
        price: (38 + below(24)) / 100 + (below(25) === 0 ? 0.005 : 0),
        size: 1 + below(4_000) / 100,
        ...(below(12) === 0 ? { orderType: "FAK" as const } : {}),
      });
    } else if (choice < 17) {
      const { data: open } = orThrow(await client.openOrders({ limit: 50 }));
      const order = open[below(Math.max(1, open.length))];
      if (order !== undefined) orThrow(await client.cancel(order.id));
    } else if (choice < 19) orThrow(await control.setClock({ advance: `${1 + below(3)}s` }));
    else orThrow(await control.chain.mine());
    books.set(...(await booksNow(server.url, yes, no)));
  }
  for (const client of clients) client.close();
  return { slug, books };
}

/** The current sequence, and the books of both outcomes. */
async function booksNow(url: string, ...tokens: readonly [string, string]): Promise<[number, [Book, Book]]> {
  let sequence = 0;
  const bookOf = async (token: string): Promise<Book> => {
    const reply = await fetch(`${url}/clob/book?token_id=${token}`);
    sequence = Number(reply.headers.get("x-sim-sequence"));
    const { bids, asks } = (await reply.json()) as Book;
    return { bids, asks };
  };
  const books: [Book, Book] = [await bookOf(tokens[0]), await bookOf(tokens[1])];
  return [sequence, books];
}
