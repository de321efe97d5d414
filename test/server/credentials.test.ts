import { describe, expect, it } from "vitest";
import { millis, money, size } from "../../src/core/units.ts";
import { type Headers, startApi, T0, useApi } from "../support/http.ts";
import { refusalOf, titleOf } from "./bad-inputs.ts";
import { answerTo, refusalIn, requestBytes } from "./raw-socket.ts";
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
import { AUTH_VECTORS, signPersonal, signTyped, wallet } from "./wallet.ts";

const PATH = "/clob/auth/derive-api-key";
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

const api = useApi();

const derive = (body: object): Promise<Credentials> => api.post<Credentials>(PATH, body);
const post = (body: object, headers: Headers = {}) =>
  ({ method: "POST", path: PATH, headers, body }) as const;

/** Whether credentials sign a request that is answered. */
async function opens(address: string, credentials: Credentials, at = api): Promise<boolean> {
  const trader = new Trader(at, address, credentials);
  return (await trader.send<OrderPage | Refusal>("GET /clob/orders")).status === 200;
}

describe("POST /clob/auth/derive-api-key", () => {
  it.each([137, 80002, 31337])("takes an EIP-712 signature with chain id %d", async (chainId) => {
    const account = wallet();
    const timestamp = String(api.now);
    const signature = await signTyped(account, { timestamp, chainId, nonce: 7n });
    const credentials = await derive({ address: account.address, signature, timestamp, nonce: 7 });
    expect(await opens(account.address, credentials)).toBe(true);
  });

  it("takes no other chain id", async () => {
    const account = wallet();
    const timestamp = String(api.now);
    const signature = await signTyped(account, { timestamp, chainId: 1 });
    const refused = post({ address: account.address, signature, timestamp });
    const { body } = await api.refused(refused, "INVALID_WALLET_SIGNATURE");
    expect(body.hint).toMatch(/0x[0-9a-f]{40}/i);
  });

  it("takes a personal_sign signature, without a timestamp", async () => {
    const account = wallet();
    const credentials = await derive({ address: account.address, signature: await signPersonal(account) });
    expect(await opens(account.address, credentials)).toBe(true);
  });

  it("takes the four as headers, or some of them", async () => {
    const account = wallet();
    const timestamp = String(api.now);
    const signature = await signTyped(account, { timestamp, nonce: 9n });
    const all = {
      poly_address: account.address,
      poly_signature: signature,
      poly_timestamp: timestamp,
      poly_nonce: "9",
    };
    const byHeaders = await api.send<Credentials>({ method: "POST", path: PATH, headers: all });
    expect(await opens(account.address, byHeaders.body)).toBe(true);
    const { poly_address: _, ...some } = all;
    const mixed = await api.send<Credentials>(post({ address: account.address, nonce: 9 }, some));
    expect(await opens(account.address, mixed.body)).toBe(true);
  });

  it("refuses a field that body and header give differently", async () => {
    const [account, other] = [wallet(), wallet()];
    const signature = await signPersonal(account);
    const body = { address: account.address, signature };
    const { body: refusal } = await api.refused(
      post(body, { poly_address: other.address }),
      "CONFLICTING_FIELDS",
    );
    expect(refusal.error).toContain("address");
    await api.refused(post({ ...body, nonce: 1 }, { poly_nonce: "2" }), "CONFLICTING_FIELDS");
  });

  it("refuses a header that is sent twice, as its document says", async () => {
    const { address } = wallet();
    const headers = ["Host: localhost", `poly_address: ${address}`, `Poly_Address: ${address}`];
    const body = refusalIn(await answerTo(api.port, requestBytes(`POST ${PATH}`, headers)));
    expect(body.code).toBe("DUPLICATE_AUTH_HEADER");
    api.document.check({ method: "POST", path: PATH, status: 401, body });
  });

  it.each([
    ["nothing at all", {}],
    ["no signature", { address: wallet(1).address }],
    ["an address that is a number", { address: 5, signature: `0x${"11".repeat(64)}1b` }],
    ["a signature that is not hex", { signature: "0xzz" }],
    ["a signature of 64 bytes", { signature: `0x${"11".repeat(64)}` }],
    ["a recovery byte of 29", { signature: `0x${"11".repeat(64)}1d` }],
    ["an r of 0", { signature: `0x${"00".repeat(32)}${"11".repeat(32)}1b` }],
    ["a timestamp that is none", { timestamp: "now" }],
    ["a timestamp in milliseconds", { timestamp: `${T0}000` }],
    ["a negative nonce", { nonce: -1 }],
    ["a nonce with decimals", { nonce: "1.5" }],
    ["a nonce that is a list", { nonce: [] }],
    ["a nonce that no number counts", { nonce: 2 ** 53 }],
    ["a timestamp that is a truth", { timestamp: true }],
  ])("refuses %s as malformed", async (_what, part) => {
    const account = wallet(1);
    const sent =
      "address" in part || Object.keys(part).length === 0 ? part : { address: account.address, ...part };
    const whole = "signature" in sent || !("nonce" in sent || "timestamp" in sent);
    const signature = whole ? {} : { signature: await signPersonal(account) };
    await api.refused(post({ ...signature, ...sent }), "INVALID_AUTH_PAYLOAD");
  });

  it("takes a timestamp up to 300 seconds off either way, and not one more", async () => {
    const account = wallet();
    for (const skew of [-300, 300]) {
      const timestamp = String(api.now + skew);
      const signature = await signTyped(account, { timestamp });
      await derive({ address: account.address, signature, timestamp });
    }
    for (const skew of [-301, 301]) {
      const timestamp = String(api.now + skew);
      const signature = await signTyped(account, { timestamp });
      const refused = post({ address: account.address, signature, timestamp });
      const { body } = await api.refused(refused, "TIMESTAMP_OUT_OF_WINDOW");
      expect(body.details).toMatchObject({ serverTime: api.now, skewSeconds: skew });
    }
  });

  it("funds a wallet at its first derivation, from the faucet, and not again", async () => {
    const trader = await deriveTrader(api, 77);
    const funded = await api.get<Account>(`/sim/accounts/${trader.address}`);
    expect(funded.collateral).toEqual({
      balance: 10000,
      available: 10000,
      reserved: 0,
      onChain: 10000,
    });
    await deriveTrader(api, 77);
    expect(await api.get<Account>(`/sim/accounts/${trader.address}`)).toEqual(funded);
  });

  it("gives a wallet what the configuration says, shares when it first touches a market", async () => {
    const faucet = { collateral: money(12_500_000), everyMarket: size(750) };
    const own = await startApi({ faucet });
    const trader = await deriveTrader(own, 1);
    const account = (): Promise<Account> => own.get(`/sim/accounts/${trader.address}`);
    expect(await account()).toMatchObject({ collateral: { balance: 12.5 }, tokens: [] });
    const tokenId = (await own.createMarket()).tokens[1]?.tokenId;
    await trader.place({ tokenId, side: "SELL", price: 0.5, size: 7.5 });
    const held = (await account()).tokens.map(({ balance, available }) => [balance, available]);
    expect(held).toEqual([
      [7.5, 7.5],
      [7.5, 0],
    ]);
    await own.close();
  });

  it("answers the signatures that are known to be right", async () => {
    const { address } = AUTH_VECTORS;
    // The week of the world's history before the start must lie after 1970 as well.
    const late = AUTH_VECTORS.typedData.filter(({ timestamp }) => Number(timestamp) > 1_000_000);
    expect(late.map(({ chainId }) => chainId)).toEqual([80002, 137, 31337]);
    for (const { timestamp, nonce, signature } of late) {
      const then = await startApi({ start: millis(Number(timestamp) * 1000) });
      const credentials = await then.post<Credentials>(PATH, { address, signature, timestamp, nonce });
      expect(await opens(address, credentials, then)).toBe(true);
      await then.close();
    }
    const credentials = await derive({ address, signature: AUTH_VECTORS.personalSign });
    expect(await opens(address, credentials)).toBe(true);
  });

  it("takes no personal_sign signature where that is switched off", async () => {
    const strict = await startApi({ personalSign: false });
    const account = wallet();
    const refused = post({ address: account.address, signature: await signPersonal(account) });
    const { body } = await strict.refused(refused, "INVALID_WALLET_SIGNATURE");
    expect(body.hint).toContain("personal_sign");
    await strict.close();
  });
});

describe("POST /sim/accounts/{address}/credentials", () => {
  const pathOf = (address: string): string => `/sim/accounts/${address}/credentials`;

  it("does and answers what the wallet's own signature would", async () => {
    const [signed, unsigned] = [await startApi(), await startApi()];
    const account = wallet(1);
    const body = { address: account.address, signature: await signPersonal(account) };
    for (let round = 0; round < 2; round += 1) {
      const given = await unsigned.post<Credentials>(pathOf(account.address));
      expect(given).toEqual(await signed.post<Credentials>(PATH, body));
      expect(await unsigned.stateHash()).toBe(await signed.stateHash());
      expect(await opens(account.address, given, unsigned)).toBe(true);
    }
    await signed.close();
    await unsigned.close();
  });

  it("gives keys for the traders of the world, whose orders they cancel", async () => {
    const own = await startApi();
    const { data } = await own.get<AccountPage>("/sim/accounts");
    const resting = data.find(({ collateral }) => collateral.reserved > 0);
    const address = resting?.address ?? "";
    const trader = new Trader(own, address, await own.post<Credentials>(pathOf(address)));
    const { canceled } = await trader.ask<CancelResult>("DELETE", "/clob/orders/all");
    expect(canceled.length).toBeGreaterThan(0);
    expect((await own.get<Invariants>("/sim/invariants")).hold).toBe(true);
    await own.close();
  });

  it("is one command of GET /sim for each dev account", async () => {
    const { devAccounts } = await api.get<Info>("/sim", { host: `localhost:${api.port}` });
    for (const { address, curl } of devAccounts) {
      expect(curl).toBe(`curl -X POST http://localhost:${api.port}${pathOf(address)}`);
    }
    const [, url = ""] = /(http\S+)/.exec(devAccounts[0]?.curl ?? "") ?? [];
    const keys = (await (await fetch(url, { method: "POST" })).json()) as Credentials;
    expect(await opens(devAccounts[0]?.address ?? "", keys)).toBe(true);
  });

  it("is refused for the exchange's own accounts, which do not trade", async () => {
    const { houseAccounts } = await api.get<Info>("/sim");
    for (const address of Object.values(houseAccounts)) {
      await api.refused(`POST ${pathOf(address)}`, "INVALID_PARAMETER");
    }
    await api.refused(`POST ${pathOf("0x1")}`, "INVALID_PARAMETER");
  });

  it("is refused a second time where credentials are derived once, and the refusal is noted", async () => {
    const once = await startApi({ credentials: "once" });
    const { address } = wallet(1);
    await once.post(pathOf(address));
    await once.refused(`POST ${pathOf(address)}`, "CREDENTIALS_ALREADY_DERIVED");
    expect((await once.send<string>("GET /sim/report")).body).toContain(
      '"code":"CREDENTIALS_ALREADY_DERIVED"',
    );
    await once.close();
  });

  it("needs the token of the control plane, which its command shows where to put", async () => {
    const guarded = await startApi({ simToken: "s3cret" });
    const request = {
      method: "POST",
      path: pathOf(wallet(1).address),
      headers: { "x-sim-token": "no" },
    } as const;
    expect((await guarded.send<Refusal>(request)).body.code).toBe("SIM_TOKEN_REQUIRED");
    const [dev] = (await guarded.get<Info>("/sim")).devAccounts;
    expect(dev?.curl).toContain("curl -X POST -H x-sim-token:$CLOBSIM_SIM_TOKEN http://127.0.0.1:");
    await guarded.close();
  });
});

describe("a hostile or mistaken derivation", () => {
  it(titleOf("D02"), async () => {
    const [account, other] = [wallet(), wallet()];
    const timestamp = String(api.now);
    const decomposed = "This message attests that I contro\u0301l the given wallet";
    for (const signature of [
      await signPersonal(other),
      await signTyped(other, { timestamp }),
      await signPersonal(account, "Another message"),
      await signTyped(account, { timestamp, message: "Another message" }),
      await signPersonal(account, decomposed),
      await signTyped(account, { timestamp: String(api.now + 1) }),
      await signTyped(account, { timestamp, nonce: 1n }),
    ]) {
      await api.refused(post({ address: account.address, signature, timestamp }), refusalOf("D02"));
    }
  });

  it(titleOf("D03"), async () => {
    const account = wallet();
    const signature = await signPersonal(account);
    const s = CURVE_ORDER - BigInt(`0x${signature.slice(66, 130)}`);
    const recovery = signature.endsWith("1b") ? "1c" : "1b";
    const high = `${signature.slice(0, 66)}${s.toString(16).padStart(64, "0")}${recovery}`;
    const refused = post({ address: account.address, signature: high });
    const { body } = await api.refused(refused, refusalOf("D03"));
    expect(body.hint).toContain("s is in the upper half of the curve order");
  });

  it(titleOf("D05"), async () => {
    const account = wallet();
    const signature = await signPersonal(account);
    const swapped = account.address.replace(/[a-f]/gi, (digit) =>
      digit === digit.toLowerCase() ? digit.toUpperCase() : digit.toLowerCase(),
    );
    for (const address of [swapped, account.address.toLowerCase()]) {
      expect(await opens(address, await derive({ address, signature }))).toBe(true);
    }
  });

  it(titleOf("D06"), async () => {
    const account = wallet();
    const body = { address: account.address, signature: await signPersonal(account) };
    const [first, second] = [await derive(body), await derive(body)];
    for (const part of ["apiKey", "secret", "passphrase"] as const)
      expect(first[part]).not.toBe(second[part]);
    expect([await opens(account.address, first), await opens(account.address, second)]).toEqual([true, true]);

    const strict = await startApi({ credentials: "once" });
    const only = await strict.post<Credentials>(PATH, body);
    await strict.refused(post(body), "CREDENTIALS_ALREADY_DERIVED");
    expect(await opens(account.address, only, strict)).toBe(true);
    await strict.close();
  });
});
