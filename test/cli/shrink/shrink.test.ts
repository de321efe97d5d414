import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it, vi } from "vitest";
import type { Progress } from "../../../src/cli/progress.ts";
import { shrink } from "../../../src/cli/shrink.ts";
import type { ExchangeClient } from "../../../src/client/client.ts";
import { orThrow } from "../../../src/client/result.ts";
import { TestFolder } from "../../support/folder.ts";
import { Shell } from "../shell.ts";
import { pairOn, run, runLine, says, serve } from "../tools.ts";

const folder = new TestFolder();
const shell = new Shell(folder, { ls: (name) => (existsSync(folder.at(name)) ? name : `no ${name}`) });

const FAILING = `scenario: a bid is too small
accounts: { alice: { USDC: 100 }, bob: { YES: 10 } }
steps:
  - bob: SELL 10 YES @ 0.70
  - alice: BUY 10 YES @ 0.50 as bid
  - alice: BUY 20 YES @ 0.40
  - expect: { orders: { bid: LIVE 0/11 } }
`;
const CALLS = `scenario: calls
accounts: { alice: { USDC: 10 } }
steps: [{ alice: split 10 }, { alice: merge 4 }, { expect: { chain: { head: 9 } } }]
`;
const LONG = "a-market-whose-slug-has-more-words-than-a-scenario-lets-the-name-of-a-market-have";

beforeAll(async () => {
  mkdirSync(folder.at("other"));
  folder.write("failing.yaml", FAILING);
  folder.write("passing.yaml", FAILING.replace("0/11", "0/10"));
  folder.write("wrong.yaml", FAILING.replace("BUY 10", "BUYS 10"));
  folder.write(
    "flow.csv",
    "at,account,op,ref,side,outcome,price,size,type\n0,bob,place,,SELL,YES,0.7,5,GTX\n",
  );
  folder.write("flowing.yaml", FAILING.replace("  - alice", "  - replay: flow.csv\n  - alice"));
  folder.write("empty.ndjson", "");
  folder.write("foreign.ndjson", '{"a":1}\n');
  folder.write("calls.yaml", CALLS);
});

/** Reports a session of Alice and Bob, and one with another market. */
beforeAll(async () => {
  const server = await serve({});
  const report = (out: string) => runLine(["report", server.url, "--out", out], folder.path);
  const [alice, bob] = await pairOn(server.url);
  const place = async (
    ...[by, slug, side, price, size]: [ExchangeClient, string, "BUY" | "SELL", number, number]
  ) => {
    const tokenId = orThrow(await alice.market(slug)).tokens[0]?.tokenId ?? "";
    return orThrow(await by.place({ tokenId, side, price, size })).id;
  };
  orThrow(await alice.control.createMarket({ question: "Rain?", slug: "rain" }));
  const gone = await place(alice, "rain", "BUY", 0.3, 20);
  await place(alice, "rain", "BUY", 0.55, 100);
  await place(bob, "rain", "SELL", 0.9, 7);
  await place(bob, "rain", "SELL", 0.5, 40);
  orThrow(await alice.cancel(gone));
  orThrow(await alice.control.setClock({ advance: "10s" }));
  await report("bug.ndjson");
  orThrow(await alice.control.createMarket({ question: "Long?", slug: LONG }));
  await place(bob, LONG, "BUY", 0.2, 5);
  await report("two.ndjson");
  for (const client of [alice, bob]) client.close();
  await server.close();
});

it("clobsim shrink prints what its page shows", async () => {
  await shell.expectPage(join(import.meta.dirname, "shrink.txt"));
});

it("clobsim shrink counts the steps left as its progress", async () => {
  const counts: number[] = [];
  const progress: Progress = { update: ({ done }) => counts.push(done), end: () => {} };
  const values = { out: null, budget: null, expect: null, refused: null, at: null };
  const given = { flags: {}, environment: {} };
  await run(() => shrink(values, [folder.at("failing.yaml")], given, progress), []);
  expect([counts[0], counts.at(-1)]).toEqual([4, 2]);
});

it("clobsim shrink draws no progress line on a terminal without codes", async () => {
  const isTerminal = process.stderr.isTTY;
  process.stderr.isTTY = true;
  try {
    const { stderr } = await runLine(["shrink", "failing.yaml"], folder.path, { TERM: "dumb" });
    expect(stderr).toMatch(/^clobsim: 4 steps → 2 steps\n/);
  } finally {
    process.stderr.isTTY = isTerminal;
  }
});

it("clobsim shrink writes the smallest result so far when the time is up", async () => {
  const steps = Array.from({ length: 60 }, (_, step) => `  - bob: SELL 0.0${(step % 9) + 1} YES @ 0.70\n`);
  const long = FAILING.replace("steps:\n", `market: { minOrderSize: 0.01 }\nsteps:\n${steps.join("")}`);
  folder.write("long.yaml", long);
  let calls = 0;
  // The clock advances at each call, so that the load of the machine does not matter.
  vi.spyOn(performance, "now").mockImplementation(() => ++calls / 10);
  const ended = await runLine(["shrink", "long.yaml", "--budget", "1ms"], folder.path);
  const stderr = says(", not minimal because the time was up\n");
  expect(ended).toEqual({ code: 0, stdout: says("LIVE 0/11"), stderr });
});
