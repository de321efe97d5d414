import fc from "fast-check";
import { expect } from "vitest";
import type { OrderPreview } from "../../src/index.ts";
import { exchange } from "../../src/vitest.ts";
import { forAllAsync, runs } from "../support/runs.ts";

const test = exchange();

const anOrder = fc.record({
  market: fc.constantFrom("reach-320", "reach-340", "gold-horde"),
  outcome: fc.constantFrom("yes", "no"),
  side: fc.constantFrom("BUY", "SELL"),
  orderType: fc.constantFrom("GTC", "FOK", "FAK"),
  price: fc.integer({ min: -1, max: 101 }).map((cents) => cents / 100),
  size: fc.constantFrom(0, 5, 12.34, 100, 700, 20_000),
} as const);

test("a preview equals the result of placing the order, and changes nothing", async ({ exchange, alice }) => {
  await forAllAsync(runs(30, 7), [fc.array(anOrder, { minLength: 1, maxLength: 6 })], async (orders) => {
    await exchange.reset();
    await exchange.credentials(alice.address);
    for (const { market, outcome, ...terms } of orders) {
      const order = { tokenId: exchange.market(market)[outcome], ...terms };
      const before = await exchange.account(alice.address);
      const { hash } = await exchange.stateHash();
      const preview = await exchange.preview({ ...order, address: alice.address });
      expect((await exchange.stateHash()).hash).toBe(hash);
      const placed = await alice.client.place(order);
      expect(preview.accepted).toBe(placed.ok);
      if (!placed.ok) {
        const { code, message, hint, details } = placed.error;
        const status = placed.error.status ?? 0;
        expect(preview).toEqual({
          accepted: false,
          order: null,
          refusal: { error: message, code, status, hint, details },
        } satisfies OrderPreview);
        continue;
      }
      const { status, cancelReason, sizeMatched, sizeRemaining, avgPrice, fee, trades } = placed.value;
      const fills = trades.map((trade) => ({
        price: trade.price,
        size: trade.size,
        fee: trade.fee,
        matchType: trade.matchType,
        counterOrderId: trade.counterOrderId,
      }));
      expect(preview.order).toMatchObject({
        ...{ status, cancelReason, sizeMatched, sizeRemaining, avgPrice, fee, fills },
      });
      const after = await exchange.account(alice.address);
      const { paid, received, reserved } = preview.order ?? expect.fail("an order was previewed");
      const delta = after.collateral.balance - before.collateral.balance;
      expect(received - paid).toBeCloseTo(delta, 6);
      const usdc = reserved?.asset === "USDC" ? reserved.amount : 0;
      expect(usdc).toBeCloseTo(after.collateral.reserved - before.collateral.reserved, 6);
      const shares = reserved?.asset === order.tokenId ? reserved.amount : 0;
      const reservedOf = ({ tokens }: typeof after) =>
        tokens.find(({ tokenId }) => tokenId === order.tokenId)?.reserved ?? 0;
      expect(shares).toBeCloseTo(reservedOf(after) - reservedOf(before), 6);
    }
  });
});
