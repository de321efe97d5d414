import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import { DEFAULT_CONFIG } from "../src/config.ts";
import { invariants, invariantsInSteps } from "../src/core/invariants.ts";
import { tokenIdIn } from "../src/core/market.ts";
import { runSteps } from "../src/core/steps.ts";
import { money, price, size } from "../src/core/units.ts";
import { type OpenedExchange, openConfigured } from "../src/engine/open-exchange.ts";
import { recordSession } from "../src/history/record/record-session.ts";
import { historyOf, reportBytes, reportInPieces } from "../src/history/report.ts";
import { addressOf } from "./support/commands.ts";
import { TINY_WORLD } from "./support/http.ts";

const ALICE = addressOf("alice");

/** Opens an exchange in which one account has placed a number of orders. */
async function openWith(orders: number): Promise<OpenedExchange> {
  const opened = await openConfigured(
    { ...DEFAULT_CONFIG, world: TINY_WORLD, clock: { mode: "frozen" }, data: null },
    () => {},
  );
  const { exchange } = opened;
  const collateral = money(1_000_000_000_000);
  exchange.submit({ kind: "fundAccount", address: ALICE, collateral, tokens: [], everyMarket: size(0) });
  const tokenId = tokenIdIn(exchange.state.markets.get(1), "YES");
  const terms = { address: ALICE, tokenId, side: "BUY", orderType: "GTC", expiration: null } as const;
  for (let order = 0; order < orders; order += 1) {
    exchange.submit({ kind: "placeOrder", ...terms, price: price(100), size: size(500) });
  }
  return opened;
}

/** Counts the steps of a job and returns them with its result. */
function counted<T>(steps: Generator<unknown, T>): { readonly steps: number; readonly result: T } {
  for (let count = 0; ; count += 1) {
    const step = steps.next();
    if (step.done === true) return { steps: count, result: step.value };
  }
}

describe("work proportional to the size of the exchange", () => {
  it("checks invariants in steps of a thousand records, with the same result", async () => {
    const { state } = (await openWith(10_000)).exchange;
    const { steps, result } = counted(invariantsInSteps(state));
    expect(result).toEqual(invariants(state));
    // The orders are iterated five times.
    expect(steps).toBeGreaterThan(5 * Math.floor(10_000 / 1_024));
  });

  it("writes a report one command at a time, in pieces that are sent at once", async () => {
    const opened = await openWith(3_000);
    const { now, hash } = opened.exchange;
    const content = { history: historyOf(opened), reason: "r", now, hash, defect: null };
    const pieces = [...reportInPieces(content)];
    expect(pieces.length).toBeGreaterThan(3_000);
    const filled = pieces.filter(({ length }) => length > 0);
    expect(filled.length).toBeGreaterThan(10);
    expect(Math.max(...filled.map(({ length }) => length))).toBeLessThan(200_000);
    expect(Buffer.concat(pieces).equals(reportBytes(content))).toBe(true);
  });

  it("records a session in two steps for each command", async () => {
    const { session: log, atSessionStart: open } = await openWith(300);
    const live = { log, open, devAccounts: [], name: null };
    const { steps, result } = counted(recordSession(live));
    expect(steps).toBeGreaterThan(600);
    expect(result).toEqual(runSteps(recordSession(live)));
  });

  it("refuses a session with too many orders for a file before it repeats one", async () => {
    const { session: log } = await openWith(60_000);
    const open = (): never => {
      throw new Error("the session was repeated");
    };
    expect(() => recordSession({ log, open, devAccounts: [], name: null }).next()).toThrow(
      "the session has 60000 orders, more than 52428, and a scenario file has at most 1048576 bytes",
    );
  });

  it("resets to the opening without opening its world again", async () => {
    const opened = await openWith(10);
    const { exchange, origin, reopen } = opened;
    const fresh = await openWith(0);
    const { hash } = fresh.atSessionStart();
    Object.assign(origin, {
      play: () => {
        throw new Error("the world was opened again");
      },
    });
    for (let time = 0; time < 2; time += 1) {
      reopen();
      expect([exchange.hash, opened.atSessionStart().hash]).toEqual([hash, hash]);
      exchange.submit({ kind: "deriveCredentials", address: ALICE });
    }
  });
});
