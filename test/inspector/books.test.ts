import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { mulberry32 } from "../bench/flow.ts";
import { run } from "../cli/tools.ts";
import { temporaryFolder } from "../support/folder.ts";
import { useServer } from "../support/http.ts";
import { atLevel } from "../support/runs.ts";
import { BROWSER, type Inspector, shownBook, useBrowser } from "./browser.ts";
import { tradeAtRandom } from "./session.ts";

const folder = temporaryFolder();
const [report, html] = [join(folder, "random.ndjson"), join(folder, "random.html")];
const open = useBrowser();
const server = await useServer();
const session = await tradeAtRandom(server, 4, atLevel(320));

writeFileSync(report, await (await fetch(`${server.url}/sim/report`)).text());
await run("inspect", [report], { html });

/** Moves the cursor to random sequences and compares the ladders with the replies of GET /clob/book. */
async function compareBooks(inspector: Inspector, seed: number, cursors: number): Promise<void> {
  const { page } = inspector;
  await page.locator(".panes").waitFor();
  await inspector.pane("book").getByLabel("Market").selectOption({ label: session.slug });
  const sequences = [...session.books.keys()];
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
    const [yes, no] = session.books.get(sequence) as readonly [object, object];
    const expected = { sequence, isYes, ...(isYes ? yes : no) };
    expect({ sequence, isYes, ...(await shownBook(page)) }).toEqual(expected);
  }
}

describe.runIf(BROWSER !== null)("the book of the page", () => {
  it("equals GET /clob/book at random sequences of a report", async () => {
    expect(session.books.size).toBeGreaterThan(atLevel(150));
    await compareBooks(await open(pathToFileURL(html).href), 1, atLevel(50));
  });

  it("equals it at random sequences of a running exchange", async () => {
    await compareBooks(await open(server.url), 2, atLevel(40));
  });
});
