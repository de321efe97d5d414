import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Api, startApi } from "../support/http.ts";
import { deriveTrader, type Trader } from "./trader.ts";

interface Story {
  readonly summary: string;
  readonly story: readonly { readonly what: string }[];
}

let api: Api;
let trader: Trader;

beforeAll(async () => {
  api = await startApi();
  trader = await deriveTrader(api, 1);
});
afterAll(() => api.close());

/** A market of one policy in which the trader's own SELL 10 @ 0.50 rests, and that order's id. */
async function withOwnAsk(selfTrade: string): Promise<{ tokenId: string; own: string }> {
  const market = await api.createMarket({ selfTrade });
  const tokenId = market.tokens[0]?.tokenId ?? "";
  const { id } = await trader.place({ tokenId, side: "SELL", price: 0.5, size: 10 });
  return { tokenId, own: id };
}

describe("the story of an order that met one of its own account", () => {
  it.each(["cancel-taker", "cancel-both"])(
    "names it under %s, and does not blame the limit",
    async (policy) => {
      const { tokenId, own } = await withOwnAsk(policy);
      const { id } = await trader.place({ tokenId, side: "BUY", price: 0.55, size: 5 });
      const { summary, story } = await api.get<Story>(`/sim/orders/${id}`);
      expect(summary).toContain(own);
      expect(story[0]?.what).toContain(own);
      expect(story[0]?.what).not.toContain("beyond its limit");
    },
  );

  it("names it where it kept a fill-or-kill from being filled", async () => {
    const { tokenId, own } = await withOwnAsk("cancel-taker");
    const { id } = await trader.place({ tokenId, side: "BUY", price: 0.5, size: 5, orderType: "FOK" });
    expect((await api.get<Story>(`/sim/orders/${id}`)).summary).toContain(own);
  });

  it("says nothing of it where own orders may meet", async () => {
    const { tokenId, own } = await withOwnAsk("allow");
    const { id } = await trader.place({ tokenId, side: "BUY", price: 0.5, size: 5 });
    expect((await api.get<Story>(`/sim/orders/${id}`)).story[0]?.what).not.toContain(own);
  });
});
