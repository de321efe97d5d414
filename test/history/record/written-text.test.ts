import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { AUTO, UNSETTLED } from "../../support/config.ts";
import { type PageText, pageWith } from "../../support/page.ts";
import { failureOf } from "./run-text.ts";
import { recordOf, refusedOr, type Settlement } from "./session-exchange.ts";

const SETTLEMENTS: Readonly<Record<string, Settlement>> = {
  everything: UNSETTLED,
  "manual settlement": UNSETTLED,
  "automatic settlement": AUTO,
  "settled balances": { settlement: "auto", balances: "settled" },
  "instant settlement": { settlement: "instant", balances: "optimistic" },
};

const wordsOf = (lines: string): string => lines.trim().replaceAll("\n", "; ");

/** The blocks at the beginning of most scenarios: one market, wallets with what the faucet gives, nothing that rests. */
const USUAL_BLOCKS =
  /^(?:markets:\n {2}rain: \{ tickSize: 0\.01 \}\n(?=accounts:|steps:)|accounts:\n(?: {2}wallet-\d: \{ USDC: 100, YES: 10, NO: 10 \}\n)+(?=steps:)|steps:\n {2}# The session\.\n)/gm;
/** The lines that differ little between scenarios. */
const USUAL =
  /^(?:# A session that .*|scenario: .*|seed: floor|clock: 2026-01-01T00:00:00Z|settlement: manual| {4}(?:status|fills): .*)$/;

/** Returns a scenario without usual blocks and lines, and without the expectations at its end except those of the chain. */
function shortened(text: string): string[] {
  const scenario = text.replace(USUAL_BLOCKS, "").trimEnd().split("\n");
  const end = scenario.findLastIndex((line) => line.startsWith("  - expect:"));
  const chain = scenario.findIndex((line) => line.startsWith("      chain:"));
  return [...scenario.slice(0, end), ...(chain < 0 ? [] : scenario.slice(chain))].filter(
    (line) => !USUAL.test(line),
  );
}

/** Returns the scenario of a session, which passes, or why there is none. */
async function linesOf({ heading, text }: PageText): Promise<string[]> {
  const [before = "", session = ""] = text.split(/^then /m).map(wordsOf);
  const options = { settlement: SETTLEMENTS[heading] as Settlement, devAccounts: ["nobody", "dev"] };
  const recorded = refusedOr(() => recordOf(before, session, options));
  if (typeof recorded === "string") return [`refused: ${recorded}`];
  const { scenario } = recorded;
  for (const via of ["process", "http"] as const) expect(await failureOf(scenario, via)).toBeNull();
  expect(recordOf(before, session, options)).toEqual(recorded);
  return heading === "everything" ? scenario.trimEnd().split("\n") : shortened(scenario);
}

it("a session is recorded as its page shows, always in the same bytes", async () => {
  const page = readFileSync(join(import.meta.dirname, "recorded.txt"), "utf8");
  await expect(await pageWith(page, linesOf)).toMatchFileSnapshot("recorded.txt");
});

it("a step compares trades after every fifty, and the rest at the end", () => {
  const { scenario, trades } = recordOf("market rain; fund alice usdc=1000; fund bob yes=1000", "trade 60");
  expect(trades).toBe(60);
  const parts = scenario.split(/trades:\n/).slice(1);
  expect(parts.map((part) => part.match(/^ +- wallet-\d SELL .* from /gm)?.length)).toEqual([50, 10]);
});

it("a fault with a probability is set for the orders that it hit", async () => {
  const failing = new Set<string>();
  const { scenario } = recordOf(
    "market rain; derive alice bob",
    (exchange) => {
      exchange.act("fault fail probability=0.5; trade 5; advance 1m; trade 5; advance 1m");
      for (const { taker, transaction } of exchange.state.trades) {
        const { status } = exchange.state.chain.transactions.get(transaction);
        if (status === "REVERTED") failing.add(`order-${taker}: FAILED`);
      }
    },
    { settlement: AUTO },
  );
  expect(failing.size).toBeGreaterThan(2);
  expect(failing.size).toBeLessThan(8);
  for (const words of failing) expect(scenario).toContain(words);
  const faults = scenario.match(/chain fault: .*/g);
  expect(faults).toEqual(Array(failing.size).fill("chain fault: { kind: fail, of: next order }"));
  for (const via of ["process", "http"] as const) expect(await failureOf(scenario, via)).toBeNull();
});

describe("a recorded scenario fails if one value in it is changed", () => {
  const { scenario } = recordOf(
    "market rain; fund maker usdc=1000; maker BUY 10 YES @ 0.4",
    "derive alice bob; alice BUY 10 YES @ 0.5; bob SELL 4 YES @ 0.3",
  );

  it.each([
    ["an order's state", "status: LIVE 0/10", "status: LIVE 1/10"],
    ["a fill", "fills: [SELL 4 YES @ 0.5 from wallet-1]", "fills: [SELL 4 YES @ 0.4 from trader-1]"],
    ["a book at the opening", "bids: [0.4 x 10 (1)], asks: []", "bids: [0.4 x 10 (2)], asks: []"],
    ["a book at the end", "YES: { bids: [0.5 x 6 (1), 0.4", "YES: { bids: [0.5 x 6 (2), 0.4"],
    ["an order's final state", "order-1: LIVE 4/10", "order-1: LIVE 5/10"],
    ["a trade", "wallet-2 SELL 4 YES @ 0.5", "wallet-2 SELL 4 YES @ 0.51"],
    ["a balance", "USDC: { balance: 98,", "USDC: { balance: 97,"],
    ["a balance on the chain", "98, onChain: 100", "98, onChain: 98"],
    ["a settlement", "order-1: MATCHED }", "order-1: MINED }"],
  ])("%s", async (_case, expected, other) => {
    expect(await failureOf(scenario)).toBeNull();
    expect(scenario.split(expected)).toHaveLength(2);
    expect(await failureOf(scenario.replace(expected, other))).toMatch(/^step \d+, /);
  });
});
