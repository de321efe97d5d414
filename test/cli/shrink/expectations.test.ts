import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { ExchangeClient } from "../../../src/client/client.ts";
import { orThrow } from "../../../src/client/result.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { pairOn, run, serve } from "../tools.ts";

const folder = temporaryFolder();
const report = join(folder, "bug.ndjson");
const two = join(folder, "two.ndjson");
const LONG = "a-market-whose-slug-has-more-words-than-a-scenario-lets-the-name-of-a-market-have";
/** Number of the first order of the session, after those of the world. */
let first = 0;

const shrink = (words: readonly string[], flags: Readonly<Record<string, string>>) =>
  run("shrink", words, flags);

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
    const { code, stdout, stderr } = await shrink([report], {
      expect: "{ book: { YES: { bids: [0.55 x 100] } } }",
      out,
    });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    const text = readFileSync(out, "utf8");
    expect(text.slice(text.indexOf("accounts:"))).toBe(`accounts:
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
    const ran = await run("run", [out]);
    expect(ran.code).toBe(1);
    expect(ran.stdout).toMatch(/- bid 0\.55 x 100\n\s+\+ bid 0\.55 x 60\n/);
  });

  it("names orders by their numbers in the journal, and accounts as in a recorded session", async () => {
    const { code, stdout, stderr } = await shrink([report], {
      expect: `orders: { o${first}: LIVE 0/20 }`,
    });
    expect(code).toBe(0);
    expect(stdout.slice(stdout.indexOf("steps:"))).toBe(`steps:
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
    expect(stdout.slice(stdout.indexOf("steps:"))).toBe(`steps:
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
      at: String(
        1 +
          readFileSync(report, "utf8")
            .split("\n")
            .findIndex((line) => line.includes('"k":"placeOrder"')),
      ),
    });
    expect(code).toBe(0);
    expect(stdout.slice(stdout.indexOf("accounts:"))).toBe(`accounts:
  wallet-1: { USDC: 10000 }
  wallet-2: {}
steps:
  - wallet-1: BUY 20 YES @ 0.3 as o${first}
  - expect: { trades: [ wallet-2 SELL 1 YES @ 0.9 from o${first} ] }
`);
  });

  it("exits with 1 if it is met at the end, or at the line of --at", async () => {
    const flags = { expect: `orders: { o${first + 1}: LIVE 40/100 }` };
    const { code, stdout, stderr } = await shrink([report], flags);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toBe(
      `clobsim: the expectation of --expect is met at the end of ${report}: nothing was written (--at ends it at a line)\n`,
    );
    const journal = readFileSync(report, "utf8").split("\n");
    const placed = 1 + journal.findLastIndex((line) => line.includes('"placeOrder"'));
    expect(await shrink([report], { ...flags, at: String(placed - 1) })).toMatchObject({ code: 0 });
    expect(await shrink([report], { ...flags, at: String(placed) })).toMatchObject({ code: 1 });
  });

  it("names markets if there are several, and shortens long names", async () => {
    const name = LONG.slice(0, LONG.lastIndexOf("-", 64));
    const flags = { expect: `quote: { ${name} YES: { bid: 0.3 } }` };
    const { code, stdout, stderr } = await shrink([two], flags);
    expect(code).toBe(0);
    expect(stdout.slice(stdout.indexOf("steps:"))).toBe(`steps:
  - wallet-2: BUY 5 YES @ 0.2 in ${name}
  - expect: { quote: { ${name} YES: { bid: 0.3 } } }
`);
    expect(await shrink([two], { expect: `quote: { ${LONG} YES: { bid: 0.3 } }` })).toEqual({
      code,
      stdout,
      stderr,
    });
    const unnamed = await shrink([two], { expect: "quote: { YES: { bid: 0.3 } }" });
    expect(unnamed.code).toBe(2);
    expect(unnamed.stderr).toContain(
      `--expect:1:10: expected the name of a market (there are rain, ${name})\n`,
    );
  });

  it.each([
    ["ordres: { o1: LIVE 0/1 }", '--expect:1:1: unknown key "ordres" (did you mean orders?)'],
    [
      "balances: { wallet-9: { USDC: 1 } }",
      '--expect:1:13: unknown account "wallet-9" (did you mean wallet-1?)',
    ],
    ["book: { YES: { bids: [0.55 y 60] } }", "--expect:1:28: expected x, "],
    [
      "golden: some.txt",
      "expected an expectation that a few steps can meet, found golden, which is about the whole run",
    ],
    ["orders: [", "--expect:1:9: this [ is never closed"],
    ["just a text", "--expect:1:1: expected expectations by kind, a mapping, found "],
  ])("refuses %s, with the names that may be used", async (text, message) => {
    const { code, stdout, stderr } = await shrink([report], { expect: text });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
    expect(stderr).toContain(
      `names in ${report}\n  accounts: wallet-1 (0x19e7e376), wallet-2 (0x1563915e)\n  markets: rain\n  orders: o${first} to o${first + 3}, by their numbers in the journal\n`,
    );
  });

  it("requires a report or a directory", async () => {
    const scenario = join(folder, "some.yaml");
    writeFileSync(scenario, "scenario: some\nsteps: [{ advance: 1s }]\n");
    for (const [flag, text] of [["expect", "orders: { a: LIVE 0/1 }"] as const, ["at", "3"] as const]) {
      const { code, stderr } = await shrink([scenario], { [flag]: text });
      expect(code).toBe(2);
      expect(stderr).toBe(`clobsim: --${flag} goes with a report or a data directory, found ${scenario}\n`);
    }
  });

  it("is suggested for a report in which nothing fails", async () => {
    const { code, stderr } = await shrink([report], {});
    expect(code).toBe(1);
    expect(stderr).toContain("(--expect says what should be true)");
  });
});
