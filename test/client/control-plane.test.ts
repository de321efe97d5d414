import { afterAll, beforeAll, expect, it } from "vitest";
import { ExchangeClient } from "../../src/client/client.ts";
import { orThrow } from "../../src/client/result.ts";
import { walletOf } from "../../src/client/wallet.ts";
import { type Api, startApi } from "../support/http.ts";
import { checked, errorOf, openTrader } from "./opened.ts";

let api: Api;
let client: ExchangeClient;

beforeAll(async () => {
  api = await startApi();
  client = new ExchangeClient(api.server.url, { transport: checked(api) });
});
afterAll(() => api.close());

it("the exchange tells of itself, and its dev accounts make wallets", async () => {
  const info = orThrow(await client.control.info());
  expect(info).toMatchObject({ name: "clobsim", sequence: expect.any(Number), clock: { mode: "frozen" } });
  const [dev] = info.devAccounts;
  expect((await walletOf(dev?.privateKey ?? "")).address).toBe(dev?.address);
});

it("the clock is moved, and tells what expired on the way", async () => {
  const own = await startApi();
  const trader = await openTrader(own, 1, { time: "server" });
  const { tokens } = orThrow(await trader.control.createMarket({ question: "Brief?" }));
  const { id } = orThrow(
    await trader.place({
      tokenId: tokens[0]?.tokenId ?? "",
      side: "BUY",
      price: 0.5,
      size: 1,
      orderType: "GTD",
      expiration: new Date("2026-01-01T00:30:00Z"),
    }),
  );
  const change = orThrow(await trader.control.setClock({ advance: "1h" }));
  expect(change.fired).toEqual([{ kind: "ORDER_EXPIRED", orderId: id, at: "2026-01-01T00:30:00.000Z" }]);
  expect(orThrow(await trader.control.clock()).time).toBe("2026-01-01T01:00:00.000Z");
  expect(orThrow(await trader.control.order(id)).order.status).toBe("EXPIRED");
  await own.close();
});

it("accounts are funded, read and listed", async () => {
  const address = "0x00000000000000000000000000000000000000Aa";
  const { tokens } = orThrow(await client.control.createMarket({ question: "Funded?" }));
  const tokenId = tokens[0]?.tokenId ?? "";
  const funded = orThrow(await client.control.fund(address, { collateral: 12.5, tokens: { [tokenId]: 3 } }));
  expect(funded.collateral.balance).toBe(12.5);
  expect(funded.tokens.find((token) => token.tokenId === tokenId)?.balance).toBe(3);
  expect(orThrow(await client.control.account(address))).toEqual(funded);
  const { data, total } = orThrow(await client.control.accounts({ limit: 500 }));
  expect(data).toHaveLength(total);
  expect(data).toContainEqual(funded);
});

it("events and markets are created, closed and resolved", async () => {
  const event = orThrow(await client.control.createEvent({ title: "Weather of May", tags: ["weather"] }));
  const market = orThrow(
    await client.control.createMarket({ question: "Rain in May?", eventId: event.id, tickSize: 0.001 }),
  );
  expect(market).toMatchObject({ eventId: event.id, tickSize: 0.001, status: "ACTIVE" });
  expect(orThrow(await client.control.close(market.id)).status).toBe("CLOSED");
  expect(orThrow(await client.control.resolve(market.slug, "NO"))).toMatchObject({ winningOutcome: "NO" });
  expect(errorOf(await client.control.close(market.id))).toMatchObject({
    code: "MARKET_CLOSED",
    status: 409,
  });
});

it("invariants, state and its hash can be read", async () => {
  expect(orThrow(await client.control.invariants()).hold).toBe(true);
  expect(orThrow(await client.control.state())).toHaveProperty("units");
  const { hash } = orThrow(await client.control.stateHash());
  expect(hash).toBe(orThrow(await client.control.info()).stateHash);
});

it("a reset starts anew", async () => {
  const own = await startApi();
  const { control } = new ExchangeClient(own.server.url, { transport: checked(own) });
  const before = orThrow(await control.stateHash());
  orThrow(await control.createEvent({ title: "Soon forgotten" }));
  expect(orThrow(await control.reset()).stateHash).toBe(before.hash);
  await own.close();
});

it("a request that was refused is explained", async () => {
  const pasted = { method: "GET", url: "/clob/orders", headers: { poly_address: "0x" } };
  const explained = orThrow(await client.control.explainAuth(pasted));
  expect(explained.verdict).toContain("MISSING_AUTH_HEADER");
});

it("a server with a token is steered by who shows it", async () => {
  const guarded = await startApi({ simToken: "open-sesame" });
  const stranger = new ExchangeClient(guarded.server.url);
  expect(errorOf(await stranger.control.info())).toMatchObject({ code: "SIM_TOKEN_REQUIRED", status: 401 });
  const friend = new ExchangeClient(guarded.server.url, { simToken: "open-sesame" });
  expect(orThrow(await friend.control.info()).name).toBe("clobsim");
  stranger.close();
  friend.close();
  await guarded.close();
});

it("the token goes nowhere but to the control plane", async () => {
  const sent: string[] = [];
  const client = new ExchangeClient("http://127.0.0.1:1", {
    simToken: "open-sesame",
    transport: async ({ path, headers }) => {
      sent.push(`${path} ${headers.some(([name]) => name === "x-sim-token")}`);
      return { status: 200, headers: {}, text: "{}" };
    },
  });
  await client.serverTime();
  await client.control.info();
  expect(sent).toEqual(["/clob/time false", "/sim true"]);
});
