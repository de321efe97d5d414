import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { MarketSupply } from "../../src/client/api-messages.ts";
import { type Api, noOf, startApi, yesOf } from "../support/http.ts";
import type { Account, Market } from "./replies.ts";
import { deriveTrader } from "./trader.ts";

describe("the supply of shares before a block is mined", () => {
  let api: Api;
  let market: Market;
  const supplyOf = (idOrSlug: string): Promise<MarketSupply> => api.get(`/sim/chain/supply/${idOrSlug}`);
  const wallet = async (address: string) => {
    const { collateral, tokens } = await api.get<Account>(`/sim/accounts/${address}`);
    const shares = tokens.find(({ tokenId }) => tokenId === yesOf(market));
    return [collateral.balance, collateral.onChain, shares?.balance, shares?.onChain];
  };

  beforeAll(async () => {
    api = await startApi({ settlement: "manual" });
    market = await api.createMarket({ slug: "rain" });
  });
  afterAll(() => api.close());

  it("is in the ledger and not on the chain, for the market and each account", async () => {
    const [alice, bob] = [await deriveTrader(api, 1), await deriveTrader(api, 2)];
    const order = { side: "BUY", price: 0.5, size: 10 };
    await alice.place({ ...order, tokenId: yesOf(market) });
    const before = await supplyOf("rain");
    const [usdc, , shares = 0] = await wallet(alice.address);
    await bob.place({ ...order, tokenId: noOf(market) });
    const pending = await supplyOf(market.id);
    expect(pending).toMatchObject({ marketId: market.id, conditionId: market.conditionId });
    // Bob's faucet shares are minted by his first order in the market; the ten new sets are pending.
    const faucetShares = before.onChain.YES * 2;
    expect(pending.onChain).toEqual({ YES: faucetShares, NO: faucetShares, collateral: faucetShares });
    const all = faucetShares + 10;
    expect(pending.ledger).toEqual({ YES: all, NO: all, collateral: all });
    expect(await wallet(alice.address)).toEqual([Number(usdc) - 5, usdc, shares + 10, shares]);
    await api.post("/sim/chain/mine");
    const mined = await supplyOf("rain");
    expect(mined.onChain).toEqual(pending.ledger);
    const paid = Number(usdc) - 5;
    expect(await wallet(alice.address)).toEqual([paid, paid, shares + 10, shares + 10]);
  });

  it("is found by id or slug", async () => {
    await api.refused("GET /sim/chain/supply/snow", "MARKET_NOT_FOUND");
  });
});
