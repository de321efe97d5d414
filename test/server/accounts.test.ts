import { beforeAll, describe, expect, it } from "vitest";
import type { ErrorCode } from "../../src/api/errors.ts";
import { useApi } from "../support/http.ts";
import type { Account, AccountPage } from "./replies.ts";
import { deriveTrader } from "./trader.ts";
import { wallet } from "./wallet.ts";

const api = useApi();
let yes: string;
let no: string;

beforeAll(async () => {
  const { tokens } = await api.createMarket();
  [yes, no] = tokens.map(({ tokenId }) => tokenId) as [string, string];
});

const fund = (address: string, body: object): Promise<Account> =>
  api.post(`/sim/accounts/${address}/fund`, body);

describe("GET /sim/accounts", () => {
  it("lists all accounts, oldest first", async () => {
    const { total: before } = await api.get<AccountPage>("/sim/accounts");
    const trader = await deriveTrader(api, 100);
    const { data, total } = await api.get<AccountPage>(`/sim/accounts?offset=${before}`);
    expect([total, data.map(({ address }) => address)]).toEqual([before + 1, [trader.address]]);
  });

  it("shows available plus reserved as the balance", async () => {
    const { data } = await api.get<AccountPage>("/sim/accounts?limit=500");
    for (const { collateral, tokens } of data) {
      for (const { balance, available, reserved } of [collateral, ...tokens]) {
        expect(available + reserved).toBeCloseTo(balance, 6);
      }
    }
  });
});

describe("GET /sim/accounts/{address}", () => {
  it("of an unknown address is empty and has the address in EIP-55 case", async () => {
    const { address } = wallet(101);
    const collateral = { balance: 0, available: 0, reserved: 0, onChain: 0 };
    const empty = { address, collateral, sharesOfEveryOtherToken: 0, tokens: [] };
    expect(await api.account(address.toLowerCase())).toEqual(empty);
    expect(await api.account(`0x${address.slice(2).toUpperCase()}`)).toEqual(empty);
  });

  it.each(["0x", "0X", "none", `0x${"0".repeat(39)}`, `0x${"g".repeat(40)}`, "0".repeat(40)])(
    "is refused for an invalid address: %s",
    async (address) => {
      await api.refused(`GET /sim/accounts/${address}`, "INVALID_PARAMETER");
      const body = { collateral: 1 };
      await api.refused(`POST /sim/accounts/${address}/fund`, "INVALID_PARAMETER", body);
    },
  );
});

describe("POST /sim/accounts/{address}/fund", () => {
  it("adds USDC and shares, and returns the account", async () => {
    const { address } = wallet(102);
    const funded = await fund(address, { collateral: 1000.000001, tokens: { [yes]: 500.25 } });
    expect(funded).toMatchObject({
      address,
      collateral: { balance: 1000.000001, available: 1000.000001, reserved: 0 },
    });
    expect(funded.tokens).toMatchObject([
      { tokenId: yes, outcome: "YES", balance: 500.25 },
      { tokenId: no, outcome: "NO", balance: 0 },
    ]);
    const again = await fund(address, { collateral: 1, tokens: { [no]: 1 } });
    expect(again.collateral.balance).toBe(1001.000001);
    expect(again.tokens.map(({ balance }) => balance)).toEqual([500.25, 1]);
    expect(await api.account(address)).toEqual(again);
  });

  it.each<[string, object, ErrorCode]>([
    ["too many decimals", { collateral: 0.0000001 }, "INVALID_PARAMETER"],
    ["a negative amount", { collateral: -1 }, "INVALID_PARAMETER"],
    ["more than can be issued", { collateral: 1e18 }, "INVALID_PARAMETER"],
    ["a text", { collateral: "5" }, "INVALID_PARAMETER"],
    ["an unknown token", { tokens: { "1": 5 } }, "TOKEN_NOT_FOUND"],
    ["a property of Object.prototype", { tokens: { constructor: 5 } }, "TOKEN_NOT_FOUND"],
    ["shares without a number", { tokens: { "1": null } }, "INVALID_PARAMETER"],
    ["a list of tokens", { tokens: [] }, "INVALID_PARAMETER"],
  ])("refuses %s", async (_case, body, code) => {
    const path = `/sim/accounts/${wallet(104).address}/fund`;
    await api.refused(`POST ${path}`, code, body);
  });

  it("refuses the whole request for shares below 0.01, and for __proto__ as a token", async () => {
    const path = `/sim/accounts/${wallet(104).address}/fund`;
    const body = { collateral: 5, tokens: { [yes]: 0.001 } };
    await api.refused(`POST ${path}`, "INVALID_PARAMETER", body);
    const before = await api.stateHash();
    const reply = await api.send(`POST ${path}`, '{"collateral":5,"tokens":{"__proto__":5}}');
    expect(reply.status, reply.text).toBeGreaterThanOrEqual(400);
    expect(await api.stateHash()).toBe(before);
  });

  it("refuses to issue more than numbers can represent exactly", async () => {
    const { address } = wallet(105);
    for (let count = 0; count < 3; count += 1) await fund(address, { collateral: 1_000_000_000 });
    const path = `/sim/accounts/${address}/fund`;
    const body = { collateral: 1_000_000_000 };
    await api.refused(`POST ${path}`, "INVALID_PARAMETER", body);
    expect((await api.account(address)).collateral.balance).toBe(3_000_000_000);
  });
});
