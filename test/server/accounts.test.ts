import { describe, expect, it } from "vitest";
import { money, size } from "../../src/core/units.ts";
import { apiOfTest, type Headers, useApi } from "../support/http.ts";
import { titleOf } from "./bad-inputs.ts";
import type {
  Account,
  AccountPage,
  CancelResult,
  Credentials,
  Info,
  Invariants,
  OrderPage,
  Refusal,
} from "./replies.ts";
import { deriveTrader, Trader } from "./trader.ts";
import { signPersonal, signTyped, wallet } from "./wallet.ts";

const api = useApi();
const PATH = "/clob/auth/derive-api-key";

const derive = (body: object): Promise<Credentials> => api.post<Credentials>(PATH, body);
const post = (body: object, headers: Headers = {}) =>
  ({ method: "POST", path: PATH, headers, body }) as const;

/** Whether the server accepts a request signed with the credentials. */
async function areAccepted(address: string, credentials: Credentials, at = api): Promise<boolean> {
  const trader = new Trader(at, address, credentials);
  return (await trader.send<OrderPage | Refusal>("GET /clob/orders")).status === 200;
}

describe("POST /clob/auth/derive-api-key", () => {
  it("accepts the four fields as headers, all or some of them", async () => {
    const account = wallet();
    const timestamp = String(api.now);
    const signature = await signTyped(account, timestamp, 9n);
    const signed = { poly_signature: signature, poly_timestamp: timestamp };
    const all = { poly_address: account.address, ...signed, poly_nonce: "9" };
    const byHeaders = await api.send<Credentials>({ method: "POST", path: PATH, headers: all });
    expect(await areAccepted(account.address, byHeaders.body)).toBe(true);
    const { poly_address: _, ...some } = all;
    const mixed = await api.send<Credentials>(post({ address: account.address, nonce: 9 }, some));
    expect(await areAccepted(account.address, mixed.body)).toBe(true);
  });

  it("funds a wallet as configured; shares come when it first touches a market", async () => {
    const faucet = { collateral: money(12_500_000), everyMarket: size(750) };
    const own = await apiOfTest({ faucet });
    const trader = await deriveTrader(own, 1);
    const account = (): Promise<Account> => own.account(trader.address);
    expect(await account()).toMatchObject({ collateral: { balance: 12.5 }, tokens: [] });
    const tokenId = (await own.createMarket()).tokens[1]?.tokenId;
    await trader.place({ tokenId, side: "SELL", price: 0.5, size: 7.5 });
    const held = (await account()).tokens.map(({ balance, available }) => `${available} of ${balance}`);
    expect(held).toEqual(["7.5 of 7.5", "0 of 7.5"]);
  });

  it("refuses a personal_sign signature if the configuration forbids it", async () => {
    const strict = await apiOfTest({ personalSign: false });
    const account = wallet();
    const body = { address: account.address, signature: await signPersonal(account) };
    await strict.refused(post(body), "INVALID_WALLET_SIGNATURE");
  });
});

describe("POST /sim/accounts/{address}/credentials", () => {
  const pathOf = (address: string): string => `/sim/accounts/${address}/credentials`;

  it("has the same effect and reply as the wallet's signature", async () => {
    const [signed, unsigned] = [await apiOfTest(), await apiOfTest()];
    const account = wallet(1);
    const body = { address: account.address, signature: await signPersonal(account) };
    for (let round = 0; round < 2; round += 1) {
      const given = await unsigned.post<Credentials>(pathOf(account.address));
      expect(given).toEqual(await signed.post<Credentials>(PATH, body));
      expect(await unsigned.stateHash()).toBe(await signed.stateHash());
      expect(await areAccepted(account.address, given, unsigned)).toBe(true);
    }
  });

  it("gives credentials of the world's traders, which can cancel their orders", async () => {
    const own = await apiOfTest();
    const { data } = await own.get<AccountPage>("/sim/accounts");
    const resting = data.find(({ collateral }) => collateral.reserved > 0);
    const address = resting?.address ?? "";
    const trader = new Trader(own, address, await own.post<Credentials>(pathOf(address)));
    const { canceled } = await trader.ask<CancelResult>("DELETE", "/clob/orders/all");
    expect(canceled.length).toBeGreaterThan(0);
    expect((await own.get<Invariants>("/sim/invariants")).hold).toBe(true);
  });

  it("is the curl command of each dev account in GET /sim", async () => {
    const { devAccounts } = await api.get<Info>("/sim", { host: `localhost:${api.port}` });
    for (const { address, curl } of devAccounts) {
      expect(curl).toBe(`curl -X POST http://localhost:${api.port}${pathOf(address)}`);
    }
    const [, url = ""] = /(http\S+)/.exec(devAccounts[0]?.curl ?? "") ?? [];
    const keys = (await (await fetch(url, { method: "POST" })).json()) as Credentials;
    expect(await areAccepted(devAccounts[0]?.address ?? "", keys)).toBe(true);
  });

  it("is refused for the exchange's accounts, which do not trade", async () => {
    const { houseAccounts } = await api.get<Info>("/sim");
    for (const address of Object.values(houseAccounts)) {
      await api.refused(`POST ${pathOf(address)}`, "INVALID_PARAMETER");
    }
  });

  it("is refused a second time with credentials=once, and the journal records the refusal", async () => {
    const once = await apiOfTest({ credentials: "once" });
    const { address } = wallet(1);
    await once.post(pathOf(address));
    await once.refused(`POST ${pathOf(address)}`, "CREDENTIALS_ALREADY_DERIVED");
    const { text } = await once.send("GET /sim/report");
    expect(text).toContain('"code":"CREDENTIALS_ALREADY_DERIVED"');
  });

  it("needs the token of the control plane, and the curl command shows where to put it", async () => {
    const guarded = await apiOfTest({ simToken: "s3cret" });
    const [path, headers] = [pathOf(wallet(1).address), { "x-sim-token": "no" }];
    const { body } = await guarded.send<Refusal>({ method: "POST", path, headers });
    expect(body.code).toBe("SIM_TOKEN_REQUIRED");
    const [dev] = (await guarded.get<Info>("/sim")).devAccounts;
    expect(dev?.curl).toContain("curl -X POST -H x-sim-token:$CLOBSIM_SIM_TOKEN http://127.0.0.1:");
  });
});

it(titleOf("D06"), async () => {
  const account = wallet();
  const body = { address: account.address, signature: await signPersonal(account) };
  const [first, second] = [await derive(body), await derive(body)];
  for (const part of ["apiKey", "secret", "passphrase"] as const) expect(first[part]).not.toBe(second[part]);
  for (const keys of [first, second]) expect(await areAccepted(account.address, keys)).toBe(true);
  const strict = await apiOfTest({ credentials: "once" });
  const only = await strict.post<Credentials>(PATH, body);
  await strict.refused(post(body), "CREDENTIALS_ALREADY_DERIVED");
  expect(await areAccepted(account.address, only, strict)).toBe(true);
});
