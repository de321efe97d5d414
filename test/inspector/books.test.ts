import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { orThrow } from "../../src/client/result.ts";
import { mulberry32 } from "../bench/flow.ts";
import { pairOn, run } from "../cli/tools.ts";
import { temporaryFolder } from "../support/folder.ts";
import { useServer } from "../support/http.ts";
import { atLevel } from "../support/runs.ts";
import { BROWSER, type Inspector, type Level, shownBook, useBrowser } from "./browser.ts";

type Book = Readonly<Record<"bids" | "asks", readonly Level[]>>;

const folder = temporaryFolder();
const [report, html] = [join(folder, "random.ndjson"), join(folder, "random.html")];
const open = useBrowser();
const { url } = await useServer();
const { slug, books } = await tradeAtRandom(4, atLevel(320));

writeFileSync(report, await (await fetch(`${url}/sim/report`)).text());
await run("inspect", [report], { html });

/**
 * Two wallets trade a new market at random: orders, cancels, refusals, clock changes and blocks. The books of both outcomes are
 * read after each request, and returned by sequence.
 */
async function tradeAtRandom(seed: number, requests: number) {
  const below = mulberry32(seed);
  const clients = await pairOn(url);
  const [{ control }] = clients;
  const { slug, tokens } = orThrow(await control.createMarket({ question: "Will it rain at random?" }));
  const [yes = "", no = ""] = tokens.map(({ tokenId }) => tokenId);
  for (const { credentials } of clients) {
    const funds = { collateral: 100_000, tokens: { [yes]: 10_000, [no]: 10_000 } };
    orThrow(await control.fund(credentials?.address ?? "", funds));
  }
  const books = new Map<number, readonly [yes: Book, no: Book]>();
  for (let count = 0; count < requests; count += 1) {
    const client = clients[below(2) === 0 ? 0 : 1];
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
    const [ofYes, ofNo] = [await bookOf(yes), await bookOf(no)];
    books.set(ofYes.sequence, [ofYes.book, ofNo.book]);
  }
  for (const client of clients) client.close();
  return { slug, books };
}

/** The current book of a token, and the sequence of the exchange. */
async function bookOf(token: string): Promise<{ readonly sequence: number; readonly book: Book }> {
  const reply = await fetch(`${url}/clob/book?token_id=${token}`);
  const { bids, asks } = (await reply.json()) as Book;
  return { sequence: Number(reply.headers.get("x-sim-sequence")), book: { bids, asks } };
}

/** Moves the cursor to random sequences and compares the ladders with the replies of GET /clob/book. */
async function compareBooks(inspector: Inspector, seed: number, cursors: number): Promise<void> {
  const { page } = inspector;
  await page.locator(".panes").waitFor();
  await inspector.pane("book").getByLabel("Market").selectOption({ label: slug });
  const sequences = [...books.keys()];
  const below = mulberry32(seed);
  let isYes = true;
  for (let count = 0; count < cursors; count += 1) {
    const sequence = sequences[below(sequences.length)] as number;
    await inspector.goTo(sequence);
    // The outcome changes only at every tenth cursor, because a change costs a click.
    if (count % 10 === 9) {
      isYes = !isYes;
      await inspector.button(isYes ? "YES" : "NO", inspector.pane("book")).click();
    }
    const [yes, no] = books.get(sequence) as readonly [object, object];
    const expected = { sequence, isYes, ...(isYes ? yes : no) };
    expect({ sequence, isYes, ...(await shownBook(page)) }).toEqual(expected);
  }
}

describe.runIf(BROWSER !== null)("the book of the page", () => {
  it("equals GET /clob/book at random sequences of a report", async () => {
    expect(books.size).toBeGreaterThan(atLevel(150));
    await compareBooks(await open(pathToFileURL(html).href), 1, atLevel(50));
  });

  it("equals it at random sequences of a running exchange", async () => {
    await compareBooks(await open(url), 2, atLevel(40));
  });
});
