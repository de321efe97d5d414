import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { ExchangeClient } from "../../../src/client/client.ts";
import { orThrow } from "../../../src/client/result.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { pairOn, refused, run, says, serve } from "../tools.ts";

const folder = temporaryFolder();
const report = join(folder, "bug.ndjson");
const two = join(folder, "two.ndjson");
const LONG = "a-market-whose-slug-has-more-words-than-a-scenario-lets-the-name-of-a-market-have";
/** Number of the first order of the session, after those of the world. */
let first = 0;

const shrink = (words: readonly string[], flags: Readonly<Record<string, string>>) =>
  run("shrink", words, flags);

/** Returns a scenario from a key on. */
const from = (key: string, text: string): string => text.slice(text.indexOf(key));

/** Returns the numbers of the lines of the report that place an order. */
const placing = (): number[] =>
  readFileSync(report, "utf8")
    .split("\n")
    .flatMap((line, index) => (line.includes('"k":"placeOrder"') ? [index + 1] : []));

beforeAll(async () => {
  const server = await serve({});
  const [alice, bob] = await pairOn(server.url);
  const place = async (
    ...[by, slug, side, price, size]: [ExchangeClient, string, "BUY" | "SELL", number, number]
  ) => {
    const tokenId = orThrow(await alice.market(slug)).tokens[0]?.tokenId ?? "";
    return orThrow(await by.place({ tokenId, side, price, size })).id;
  };
  orThrow(await alice.control.createMarket({ question: "Rain?", slug: "rain" }));
  const gone = await place(alice, "rain", "BUY", 0.3, 20);
  first = Number.parseInt(gone.slice(-12), 16);
  await place(alice, "rain", "BUY", 0.55, 100);
  await place(bob, "rain", "SELL", 0.9, 7);
  await place(bob, "rain", "SELL", 0.5, 40);
  orThrow(await alice.cancel(gone));
  orThrow(await alice.control.setClock({ advance: "10s" }));
  await run("report", [server.url], { out: report });
  orThrow(await alice.control.createMarket({ question: "Long?", slug: LONG }));
  await place(bob, LONG, "BUY", 0.2, 5);
  await run("report", [server.url], { out: two });
  for (const client of [alice, bob]) client.close();
  await server.close();
});

describe("clobsim shrink --expect", () => {
  it("writes a scenario of the few steps after which the expectation fails", async () => {
    const out = join(folder, "small.yaml");
    const unmet = "{ book: { YES: { bids: [0.55 x 100] } } }";
    const { code, stdout, stderr } = await shrink([report], { expect: unmet, out });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    expect(from("accounts:", readFileSync(out, "utf8"))).toBe(`accounts:
  wallet-1: { USDC: 10000 }
  wallet-2: { YES: 10000 }
steps:
  - wallet-1: BUY 100 YES @ 0.55
  - wallet-2: SELL 40 YES @ 0.5
  - expect: { book: { YES: { bids: [ 0.55 x 100 ] } } }
`);
    expect(stderr).toMatch(
      /^clobsim: [\d,]+ steps → 3 steps\n {2}it fails at step 3, .*: the bids of YES are not as expected\n {2}accounts: wallet-1 \(0x19e7e376\), wallet-2 \(0x1563915e\)\n/,
    );
    const difference = says(/- bid 0\.55 x 100\n\s+\+ bid 0\.55 x 60\n/);
    expect(await run("run", [out])).toMatchObject({ code: 1, stdout: difference });
  });

  it("keeps what a wallet's call needs, because no step sends a call that reverts", async () => {
    const calls = join(folder, "calls.yaml");
    const steps = "[{ alice: split 10 }, { alice: merge 4 }, { expect: { chain: { head: 9 } } }]";
    writeFileSync(calls, `scenario: calls\naccounts: { alice: { USDC: 10 } }\nsteps: ${steps}\n`);
    await run("run", [calls], { report: folder });
    const { code, stdout } = await shrink([join(folder, "calls.ndjson")], { expect: "chain: { head: 9 }" });
    expect(code).toBe(0);
    expect(stdout.slice(stdout.indexOf("accounts:"))).toBe(`accounts:
  wallet-1: { USDC: 10 }
steps:
  - wallet-1: split 10
  - wallet-1: merge 4
  - expect: { chain: { head: 9 } }
`);
  });

  it("names orders by their numbers in the journal, and accounts as in a recorded session", async () => {
    const { code, stdout, stderr } = await shrink([report], { expect: `orders: { o${first}: LIVE 0/20 }` });
    expect(code).toBe(0);
    expect(from("steps:", stdout)).toBe(`steps:
  - wallet-1: BUY 20 YES @ 0.3 as o${first}
  - wallet-1: cancel o${first}
  - expect: { orders: { o${first}: LIVE 0/20 } }
`);
    expect(stderr).toContain(`\n  orders: o${first}, by their numbers in the journal\n`);
    const recorded = (await run("record", [report])).stdout;
    expect(recorded).toContain("- wallet-1: BUY 20 YES @ 0.3 as order-1\n");
  });

  it("compares only trades of the session, with their makers", async () => {
    const unmet = `trades: [wallet-2 SELL 40 YES @ 0.55 from o${first}]`;
    const { code, stdout } = await shrink([report], { expect: unmet });
    expect(code).toBe(0);
    expect(from("steps:", stdout)).toBe(`steps:
  - wallet-1: BUY 20 YES @ 0.3 as o${first}
  - wallet-1: BUY 100 YES @ 0.55
  - wallet-2: SELL 40 YES @ 0.5
  - expect: { trades: [ wallet-2 SELL 40 YES @ 0.55 from o${first} ] }
`);
    const met = `trades: [wallet-2 SELL 40 YES @ 0.55 from o${first + 1}]`;
    expect(await shrink([report], { expect: met })).toMatchObject({ code: 1 });
  });

  it("includes accounts and orders that only the expectation names", async () => {
    const { code, stdout } = await shrink([report], {
      expect: `trades: [wallet-2 SELL 1 YES @ 0.9 from o${first}]`,
      at: String(placing()[0]),
    });
    expect(code).toBe(0);
    expect(from("accounts:", stdout)).toBe(`accounts:
  wallet-1: { USDC: 10000 }
  wallet-2: {}
steps:
  - wallet-1: BUY 20 YES @ 0.3 as o${first}
  - expect: { trades: [ wallet-2 SELL 1 YES @ 0.9 from o${first} ] }
`);
  });

  it("exits with 1 if it is met at the end, or at the line of --at", async () => {
    const flags = { expect: `orders: { o${first + 1}: LIVE 40/100 }` };
    const met = `the expectation of --expect is met at the end of ${report}: nothing was written`;
    expect(await shrink([report], flags)).toEqual(refused(`${met} (--at ends it at a line)`, 1));
    const placed = placing().at(-1) ?? 0;
    expect(await shrink([report], { ...flags, at: String(placed - 1) })).toMatchObject({ code: 0 });
    expect(await shrink([report], { ...flags, at: String(placed) })).toMatchObject({ code: 1 });
  });

  it("names markets if there are several, and shortens long names", async () => {
    const name = LONG.slice(0, LONG.lastIndexOf("-", 64));
    const flags = { expect: `quote: { ${name} YES: { bid: 0.3 } }` };
    const { code, stdout, stderr } = await shrink([two], flags);
    expect(code).toBe(0);
    expect(from("steps:", stdout)).toBe(`steps:
  - wallet-2: BUY 5 YES @ 0.2 in ${name}
  - expect: { quote: { ${name} YES: { bid: 0.3 } } }
`);
    const long = await shrink([two], { expect: `quote: { ${LONG} YES: { bid: 0.3 } }` });
    expect(long).toEqual({ code, stdout, stderr });
    const expected = `--expect:1:10: expected the name of a market (there are rain, ${name})\n`;
    expect(await shrink([two], { expect: "quote: { YES: { bid: 0.3 } }" })).toEqual(refused(says(expected)));
  });

  it.each([
    ["ordres: { o1: LIVE 0/1 }", '--expect:1:1: unknown key "ordres" (did you mean orders?)'],
    ["balances: { wallet-9: {} }", '--expect:1:13: unknown account "wallet-9" (did you mean wallet-1?)'],
    ["book: { YES: { bids: [0.55 y 60] } }", "--expect:1:28: expected x, "],
    [
      "golden: a.txt",
      "expected an expectation that a few steps can meet, found golden, which is about the whole run",
    ],
    ["orders: [", "--expect:1:9: this [ is never closed"],
    ["just a text", "--expect:1:1: expected expectations by kind, a mapping, found "],
  ])("refuses %s, with the names that may be used", async (text, message) => {
    const ended = await shrink([report], { expect: text });
    expect(ended).toEqual(refused(says(message)));
    expect(ended.stderr).toContain(`names in ${report}
  accounts: wallet-1 (0x19e7e376), wallet-2 (0x1563915e)
  markets: rain
  orders: o${first} to o${first + 3}, by their numbers in the journal
`);
  });

  it("requires a report or a directory", async () => {
    const scenario = join(folder, "some.yaml");
    writeFileSync(scenario, "scenario: some\nsteps: [{ advance: 1s }]\n");
    for (const [flag, text] of [["expect", "orders: { a: LIVE 0/1 }"] as const, ["at", "3"] as const]) {
      const message = `--${flag} goes with a report or a data directory, found ${scenario}`;
      expect(await shrink([scenario], { [flag]: text })).toEqual(refused(message));
    }
  });

  it("is suggested for a report in which nothing fails", async () => {
    const stderr = says("(--expect says what should be true)");
    expect(await shrink([report], {})).toMatchObject({ code: 1, stderr });
  });
});
