import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ORDER_TYPES, SIDES } from "../../../src/core/terms.ts";
import { deriveTrader } from "../../server/trader.ts";
import { useApi } from "../../support/http.ts";
import { atLevel, forAllAsync, runs } from "../../support/runs.ts";
import { failureOf } from "./run-text.ts";

const ODD_WORDS = [
  ..."tomorrow soon -5 +5 +60s 60s 0 1 1.5 2026-01-02T00:00:00Z 2026-01-02".split(" "),
  ..."in as for at until YES no @ @0.5 x # a#b rain all GTC gtd".split(" "),
  ..."cancel fund split Merge redeem expect buy HOLD order-1".split(" "),
  ...["a b", "a: b", "", " "],
];

const anyWord = fc.oneof(
  { arbitrary: fc.constantFrom(...ODD_WORDS), weight: 4 },
  { arbitrary: fc.string({ unit: "grapheme", maxLength: 50 }), weight: 1 },
);

/** A value that is right most of the time. */
const mostly = (...right: readonly (string | number)[]): fc.Arbitrary<unknown> =>
  fc.oneof(
    { arbitrary: fc.constantFrom<unknown>(...right), weight: 12 },
    { arbitrary: anyWord, weight: 3 },
    { arbitrary: fc.oneof(fc.double(), fc.constantFrom(null, true, 0)), weight: 1 },
  );

const terms = { side: mostly(...SIDES), size: mostly(10), price: mostly(0.1) };
const anyOrder = fc.record(
  { ...terms, orderType: mostly(...ORDER_TYPES), expiration: anyWord },
  { requiredKeys: ["side", "size", "price"] },
);

describe("a recording of refused orders", () => {
  const api = useApi();

  /** Sends signed orders in a new session with some markets; returns its recording. */
  async function recordingOf(orders: readonly object[], markets: readonly string[]): Promise<string> {
    await api.post("/sim/reset");
    const tokens: string[] = [];
    for (const slug of markets) tokens.push(await api.newToken({ slug }));
    const trader = await deriveTrader(api, 1);
    for (const [index, order] of orders.entries()) {
      const body = JSON.stringify({ tokenId: tokens[index % tokens.length], ...order });
      await api.send(trader.signed("POST", "/clob/order", body));
    }
    return (await api.get<{ scenario: string }>("/sim/scenario")).scenario;
  }

  it("passes as a scenario, whatever words they have", async () => {
    let steps = 0;
    await forAllAsync(
      runs(100),
      [
        fc.array(anyOrder, { minLength: 1, maxLength: 20, size: "max" }),
        fc.constantFrom(["rain"], ["rain", "snow"]),
      ],
      async (orders, markets) => {
        const recording = await recordingOf(orders, markets);
        steps += recording.match(/rejects: /g)?.length ?? 0;
        expect(await failureOf(recording)).toBeNull();
      },
    );
    expect(steps).toBeGreaterThan(atLevel(50));
  });

  it.each([
    ["tomorrow", "GTC", "EXPIRATION_NOT_ALLOWED", null],
    ["-5", "FOK", "EXPIRATION_NOT_ALLOWED", null],
    ["+60s", "FOK", "EXPIRATION_NOT_ALLOWED", "BUY 10 YES @ 0.1 FOK +60s"],
    ["1", "GTC", "EXPIRATION_NOT_ALLOWED", "BUY 10 YES @ 0.1 GTC 1"],
    ["soon", "GTD", "INVALID_EXPIRATION", "BUY 10 YES @ 0.1 GTD soon"],
    // A step would be valid: it reads the word as a time after the order.
    ["+60s", "GTD", "INVALID_EXPIRATION", null],
  ])("has the expiration %s of a %s order if a step can", async (expiration, orderType, code, line) => {
    const order = { side: "BUY", size: 10, price: 0.1, orderType, expiration };
    const recording = await recordingOf([order], ["rain"]);
    const step = `  - wallet-1: ${line}\n    rejects: ${code}\n`;
    expect(recording).toContain(line === null ? `# Refused with ${code}, which no step can express: ` : step);
  });
});
