import { describe, expect, it } from "vitest";
import { millis } from "../../src/core/units.ts";
import { SessionLog } from "../../src/engine/journal.ts";
import { controlHandlers } from "../../src/server/handlers/control.ts";
import { eventCommand } from "../support/commands.ts";
import { apiOfTest, useApi, yesOf } from "../support/http.ts";
import { replyTo, requestBytes } from "./raw-socket.ts";
import type { Info, Invariants, PlacedOrder } from "./replies.ts";
import { deriveTrader, useTrader } from "./trader.ts";
import { wallet } from "./wallet.ts";

const api = useApi();
const trader = useTrader(api, 1);

it("GET /sim has the version of the document, and development accounts with their private keys", async () => {
  const { version, devAccounts } = await api.get<Info>("/sim");
  expect(version).toBe(api.document.json.info.version);
  expect(devAccounts).toHaveLength(10);
  for (const { address, privateKey } of devAccounts) expect(wallet(BigInt(privateKey)).address).toBe(address);
});

it("POST /sim/reset resets state, clock and ids", async () => {
  const own = await apiOfTest();
  const opening = await own.get<Info>("/sim");
  const trade = async (): Promise<{ hash: string; placed: PlacedOrder }> => {
    const someone = await deriveTrader(own, 1);
    const tokenId = await own.newToken();
    const placed = await someone.place({ tokenId, side: "BUY", price: 0.5, size: 5 });
    return { hash: await own.stateHash(), placed };
  };
  const first = await trade();
  await own.post("/sim/clock", { advance: "1d" });
  expect(await own.post<Info>("/sim/reset")).toEqual(opening);
  expect(await own.get<Info>("/sim")).toEqual(opening);
  await own.refused(`GET /clob/book?token_id=${first.placed.tokenId}`, "TOKEN_NOT_FOUND");
  expect(await trade()).toEqual(first);
});

it("POST /sim/snapshots/{idOrName}/restore restores orders, balances, books and lists, and answers like GET /sim", async () => {
  const own = await apiOfTest();
  const [alice, bob] = [await deriveTrader(own, 1), await deriveTrader(own, 2)];
  const market = await own.createMarket();
  const tokenId = yesOf(market);
  const { id } = await alice.place({ tokenId, side: "BUY", price: 0.5, size: 10 });
  const read = async () => [
    await own.get<Info>("/sim"),
    await own.book(tokenId),
    await own.account(alice.address),
    await alice.ask("GET", "/clob/orders"),
    await own.get("/api/markets?sort=volume"),
    await own.get("/api/search?q=rain"),
  ];
  const before = await read();
  await own.post("/sim/snapshots", { name: "before" });
  for (const size of [4, 10]) {
    await bob.place({ tokenId, side: "SELL", price: 0.5, size });
    await own.createMarket();
    await own.advance("1h");
    expect(await own.post<Info>("/sim/snapshots/before/restore")).toEqual(before[0]);
    expect(await read()).toEqual(before);
  }
  expect((await alice.cancel(id)).canceled).toEqual([id]);
});

describe("GET /sim/state", () => {
  it("is canonical: the same bytes until the state changes", async () => {
    const read = async (): Promise<string> => (await replyTo(api.port, requestBytes("GET /sim/state"))).text;
    const text = await read();
    expect(await read()).toBe(text);
    expect(Object.keys(JSON.parse(text) as object)).toEqual([
      ...["units", "config", "accounts", "events", "markets", "orders", "trades", "chain", "waiting"],
      ...["wallets", "transactions", "issued"],
    ]);
    await api.createMarket();
    expect(await read()).not.toBe(text);
  });

  it("has no secret", async () => {
    const { text } = await api.send("GET /sim/state");
    const { secret, passphrase, apiKey } = trader.credentials;
    for (const hidden of [secret, passphrase, apiKey]) expect(text).not.toContain(hidden);
  });
});

it("GET /sim/journal is refused when the session has more commands than the memory", () => {
  const session = new SessionLog(1);
  session.begin();
  for (const sequence of [1, 2])
    session.append({ sequence, at: millis(0), command: eventCommand(`event-${sequence}`) }, []);
  const call = { query: { limit: 1, offset: 0 } };
  expect(() => controlHandlers.listJournal(call as never, { session } as never)).toThrow(
    expect.objectContaining({ code: "SESSION_TOO_LONG" }),
  );
});

it("GET /sim/invariants lists each invariant with its number of checks, and all hold", async () => {
  const { hold, invariants } = await api.get<Invariants>("/sim/invariants");
  expect(hold).toBe(true);
  expect(invariants.length).toBeGreaterThan(5);
  for (const { holds, checked, differences } of invariants) {
    expect([holds, differences]).toEqual([true, []]);
    expect(checked).toBeGreaterThan(0);
  }
});

it("POST /sim/explain-auth accepts two forms of one path", async () => {
  const headers = trader.headers("GET", "/clob/orders");
  const url = `${api.server.url}/clob/orders?limit=5`;
  const request = { method: "GET", url, path: "/clob/orders", headers };
  expect(await api.post("/sim/explain-auth", request)).toMatchObject({ verdict: "OK" });
});
