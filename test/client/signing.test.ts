import { describe, expect, it } from "vitest";
import vectors from "../../fixtures/vectors/auth-vectors.json" with { type: "json" };
import { attest, ExchangeClient, walletOf } from "../../src/client/client.ts";
import { authHeaders } from "../../src/client/connection.ts";

const { privateKey, personalSign, typedData, hmac } = vectors;
const address = vectors.address as `0x${string}`;

describe("a signed request", () => {
  it.each(hmac)(
    "is signed like the vector, without its query: $method $path",
    ({ path, signature, ...sent }) => {
      const credentials = { address, apiKey: "k", passphrase: "p", secret: sent.secret };
      for (const target of [`/clob${path}`, `/clob${path}?limit=5&side=BUY`]) {
        const headers = authHeaders(credentials, { ...sent, target }, Number(sent.timestamp));
        expect(Object.fromEntries(headers).poly_signature).toBe(signature);
      }
    },
  );
});

describe("a wallet", () => {
  it.each(typedData)("signs typed data like the vector: chain $chainId, nonce $nonce", async (vector) => {
    const account = await walletOf(privateKey);
    const { chainId, timestamp, nonce, signature } = vector;
    const claim = { scheme: "typed-data", chainId, unixTime: Number(timestamp), nonce } as const;
    expect(await attest(account, claim)).toEqual({ address, signature, timestamp, nonce: String(nonce) });
  });

  it("signs with personal_sign like the vector, without time and nonce", async () => {
    const account = await walletOf(privateKey);
    const claim = { scheme: "personal-sign", chainId: 137, unixTime: 1, nonce: 5 } as const;
    expect(await attest(account, claim)).toEqual({ address, signature: personalSign });
  });

  it("does not sign by a scheme that is unknown", async () => {
    const client = new ExchangeClient("http://127.0.0.1:7070", { account: await walletOf(privateKey) });
    await expect(client.derive(0, "personal_sign" as never)).rejects.toThrow(
      new TypeError('scheme expects "typed-data" or "personal-sign", found the string "personal_sign"'),
    );
  });

  it.each([
    ["is too short", `${privateKey.slice(0, -1)}`, TypeError],
    ["has no 0x", privateKey.slice(2), TypeError],
    ["is not hexadecimal", privateKey.replace("ac09", "acog"), TypeError],
    ["is zero", `0x${"0".repeat(64)}`, RangeError],
    ["is above the curve's order", `0x${"f".repeat(64)}`, RangeError],
  ])("is not created from a key that %s, and the error does not show the key", async (_case, key, kind) => {
    const error = await walletOf(key).catch((caught: unknown) => caught as Error);
    expect(error).toBeInstanceOf(kind);
    expect(String(error)).not.toContain(key.slice(4, 12));
  });
});
