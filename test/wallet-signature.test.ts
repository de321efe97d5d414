import fc from "fast-check";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect, it } from "vitest";
import vectors from "../fixtures/vectors/auth-vectors.json" with { type: "json" };
import { ApiError } from "../src/api/errors.ts";
import {
  ATTESTATION,
  CLOB_AUTH_TYPES,
  type DerivationRequest,
  verifyDerivation,
} from "../src/api/wallet-signature.ts";
import { titleOf } from "./server/bad-inputs.ts";
import { forAllAsync, runs } from "./support/runs.ts";

const NOW = 1_700_000_000;
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const address = vectors.address.toLowerCase();
const wallet = privateKeyToAccount(vectors.privateKey as `0x${string}`);
const another = privateKeyToAccount(`0x${"1".repeat(64)}`);

/** The known signature at NOW. */
const { timestamp, signature: known } = vectors.typedData[2] as (typeof vectors.typedData)[0];
const REFUSED = { code: "INVALID_WALLET_SIGNATURE" };
/** Matches a refusal with a hint. */
const refusedWith = (hint: string) => ({ ...REFUSED, hint: expect.stringContaining(hint) as string });

/** Returns the verified address, or the reason of the refusal. */
const verify = (request: DerivationRequest, now = NOW, personalSign = true) =>
  verifyDerivation(request, now, { personalSign }).catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    return { code: error.code, message: error.message, ...error.help };
  });

/** Returns an EIP-712 signature of a wallet, by default of the correct message. */
const typed = (
  signer: typeof wallet,
  { chainId = 137, timestamp = String(NOW), nonce = 0n, message = ATTESTATION, of = wallet.address } = {},
) =>
  signer.signTypedData({
    domain: { name: "ClobAuthDomain", version: "1", chainId },
    types: CLOB_AUTH_TYPES,
    primaryType: "ClobAuth",
    message: { address: of, timestamp, nonce, message },
  });

const withByte = (signature: string, byte: string) => signature.slice(0, -2) + byte;
const hex32 = (value: bigint) => value.toString(16).padStart(64, "0");

describe("an EIP-712 signature", () => {
  it.each(vectors.typedData)("for chain $chainId at $timestamp is the known one", async (vector) => {
    const at = Number(vector.timestamp);
    expect(await verify({ ...vector, address: vectors.address }, at)).toBe(address);
    expect(await verify({ ...vector, address, nonce: String(vector.nonce) }, at, false)).toBe(address);
  });

  it.each([
    ["chainId 1 was signed: would match with one of 137, 80002, 31337; recovered 0x", { chainId: 1 }, {}],
    ["nonce 0 was signed, nonce 1 was sent: send the one that is signed; recovered 0x", {}, { nonce: 1 }],
    ["nonce 1 was signed, nonce 0 was sent", { nonce: 1n, chainId: 80002 }, {}],
    [`timestamp ${NOW + 1} was signed, ${NOW} was sent`, { timestamp: String(NOW + 1) }, {}],
    [`timestamp ${NOW - 1} was signed, ${NOW} was sent`, { timestamp: String(NOW - 1), chainId: 31337 }, {}],
  ])("is refused with its mistake: %s", async (hint, signed, sent) => {
    const signature = await typed(wallet, signed);
    const refused = await verify({ address, timestamp: String(NOW), signature, ...sent });
    expect(refused).toMatchObject({ ...REFUSED, hint: expect.stringMatching(`^${hint}`) as string });
  });

  it.each([-300, 300])("passes %i s off", async (skew) => {
    expect(await verify({ address, timestamp, signature: known }, NOW + skew)).toBe(address);
  });

  it.each([-301, 301])("fails %i s off", async (skew) => {
    for (const personalSign of [true, false]) {
      expect(await verify({ address, timestamp, signature: known }, NOW - skew, personalSign)).toMatchObject({
        code: "TIMESTAMP_OUT_OF_WINDOW",
        details: { serverTime: NOW - skew, sent: NOW, skewSeconds: skew },
      });
    }
  });

  it("that is too old is refused before its signer is recovered", async () => {
    const signature = await typed(another, { timestamp: String(NOW - 301) });
    expect(await verify({ address, timestamp: String(NOW - 301), signature })).toMatchObject({
      code: "TIMESTAMP_OUT_OF_WINDOW",
    });
  });

  it("needs the signed timestamp", async () => {
    const hint = "an EIP-712 signature needs the timestamp";
    expect(await verify({ address, signature: known })).toMatchObject(refusedWith(hint));
  });

  it("may have its timestamp as a number", async () => {
    expect(await verify({ address, timestamp: NOW, signature: await typed(wallet) })).toBe(address);
  });

  it("covers the largest nonce", async () => {
    const nonce = 2n ** 256n - 1n;
    const request = { address, timestamp: String(NOW), signature: await typed(wallet, { nonce }) };
    expect(await verify({ ...request, nonce: String(nonce) })).toBe(address);
    expect(await verify(request)).toMatchObject(REFUSED);
  });
});

describe("a personal_sign signature", () => {
  const signature = vectors.personalSign;

  it("is the known one", async () => {
    expect(vectors.text).toBe(ATTESTATION);
    expect(await verify({ address, signature })).toBe(address);
  });

  it("passes with any timestamp", async () => {
    for (const timestamp of [String(NOW), "1"]) {
      expect(await verify({ address, signature, timestamp })).toBe(address);
    }
  });

  it("is refused with a reason if it is disabled", async () => {
    for (const timestamp of [undefined, String(NOW)]) {
      const refused = await verify({ address, signature, timestamp }, NOW, false);
      expect(refused).toMatchObject(refusedWith("switched off"));
    }
  });
});

describe("a wallet signature", () => {
  it.each(["1c", "01"])("may have either form of the recovery byte: %s", async (byte) => {
    expect(await verify({ address, timestamp, signature: withByte(known, byte) })).toBe(address);
  });

  const digits = address.slice(2);
  it.each([address, `0x${digits.toUpperCase()}`, `0xF${digits.slice(1)}`])(
    `${titleOf("D05")}: %s`,
    async (of) => {
      const typedData = { address: of, timestamp: String(NOW), signature: await typed(wallet) };
      for (const request of [{ address: of, signature: vectors.personalSign }, typedData])
        expect(await verify(request)).toBe(address);
    },
  );

  it("may be written in upper case", async () => {
    const signature = `0x${vectors.personalSign.slice(2).toUpperCase()}`;
    expect(await verify({ address, signature })).toBe(address);
  });

  it("by another wallet is refused with that wallet in the hint, and no mistake", async () => {
    const requests = [
      { address, signature: await another.signMessage({ message: ATTESTATION }) },
      { address, timestamp: String(NOW), signature: await another.signMessage({ message: ATTESTATION }) },
      { address, timestamp: String(NOW), signature: await typed(another, { chainId: 31337 }) },
    ];
    const hint = expect.stringMatching(`^recovered .*${another.address.toLowerCase()}`) as string;
    for (const request of requests) expect(await verify(request)).toMatchObject({ ...REFUSED, hint });
  });

  it(`over another text, timestamp or nonce is refused (${titleOf("D02")})`, async () => {
    for (const message of [`${ATTESTATION}.`, ATTESTATION.replace("control", "contro\u0301l")]) {
      const signature = await wallet.signMessage({ message });
      expect(await verify({ address, signature })).toMatchObject(REFUSED);
    }
    for (const signed of [{ message: `${ATTESTATION}.` }, { timestamp: String(NOW + 1) }, { nonce: 1n }]) {
      const signature = await typed(wallet, signed);
      expect(await verify({ address, timestamp: String(NOW), signature })).toMatchObject(REFUSED);
    }
  });

  it(titleOf("D03"), async () => {
    const { personalSign } = vectors;
    const s = BigInt(`0x${personalSign.slice(66, 130)}`);
    const signature = `${personalSign.slice(0, 66)}${hex32(ORDER - s)}1b`;
    const hint = "s is in the upper half of the curve order";
    expect(await verify({ address, signature })).toMatchObject({ ...REFUSED, hint });
  });

  it("from which no address can be recovered is refused", async () => {
    const signature = `0x${hex32(5n)}${hex32(1n)}1b`;
    const details = { recovered: [{ scheme: "personal_sign", address: null }] };
    expect(await verify({ address, signature })).toMatchObject({ ...REFUSED, details });
  });
});

describe("a payload", () => {
  const good = { address, signature: vectors.personalSign };
  const rs = (r: bigint, s: bigint) => `0x${hex32(r)}${hex32(s)}1b`;
  const hex = address.slice(2);
  const { signature } = good;
  const addresses = [undefined, `0X${hex}`, hex, address.slice(0, -1), `${address}0`, `${address}\n`, 7];
  const signatures = [
    ...[undefined, "", "0x", signature.slice(2), signature.slice(0, -2), `${signature}00`],
    ...[`0X${signature.slice(2)}`, ...["02", "1a", "1d", "ff"].map((byte) => withByte(signature, byte))],
    ...[rs(0n, 1n), rs(1n, 0n), rs(ORDER, 1n), rs(1n, ORDER), rs(2n ** 256n - 1n, 1n)],
  ];
  const timestamps = ["", " 1", "-1", "01", "1e9", "1.5", "1234567890123", Number.NaN, 1.5];
  const nonces = ["", "-1", "0x1", "1.0", "01", String(2n ** 256n), "9".repeat(9000), -1, 1.5, Number.NaN];
  const bad = Object.entries({
    address: addresses,
    signature: signatures,
    timestamp: timestamps,
    nonce: nonces,
  }).flatMap(([field, values]) => values.map((value) => [field, { ...good, [field]: value }] as const));
  it.each(bad)("with a malformed %s is refused: %j", async (field, request) => {
    const refused = { code: "INVALID_AUTH_PAYLOAD", details: { field } };
    expect(await verify(request as DerivationRequest)).toMatchObject(refused);
  });

  it.each(["address", "signature"])("without %s is refused with the ways to send it", async (field) => {
    expect(await verify({ ...good, [field]: undefined })).toMatchObject({
      message: `${field} is missing`,
      hint: expect.stringMatching("in a JSON body or as the headers poly_address and poly_signature"),
    });
  });

  it.each([
    ["a timestamp in milliseconds", { timestamp: `${NOW}123` }, "looks like milliseconds"],
    ["a signature without 0x, as Python prints it", { signature: "ab".repeat(65) }, "it must begin with 0x"],
    ["a signature of 64 bytes", { signature: `0x${"ab".repeat(64)}` }, "found 128 characters after 0x"],
    ["an address without 0x", { address: "ab".repeat(20) }, "it must begin with 0x"],
  ])("with %s is refused with that reason", async (_what, fields, hint) => {
    const refused = { code: "INVALID_AUTH_PAYLOAD", hint: expect.stringContaining(hint) };
    expect(await verify({ ...good, ...fields })).toMatchObject(refused);
  });

  it("of any content is answered with a listed code", async () => {
    const digits = fc.stringMatching(/^0x[0-9a-f]{128}(00|01|1b|1c)$/);
    const anything = fc.oneof(fc.double(), fc.string({ unit: "binary" }), digits);
    const request = fc.record({
      address: fc.oneof(anything, fc.constant(address)),
      signature: fc.oneof(anything, digits),
      timestamp: fc.oneof(fc.constant(undefined), fc.constant(String(NOW)), anything),
      nonce: fc.oneof(fc.constant(undefined), fc.nat(), anything),
    });
    await forAllAsync(runs(100, 7), [request, fc.boolean()], async (sent, personalSign) => {
      const outcome = await verify(sent, NOW, personalSign);
      expect(typeof outcome === "string" ? "" : outcome.code).toMatch(
        /^(INVALID_AUTH_PAYLOAD|TIMESTAMP_OUT_OF_WINDOW|INVALID_WALLET_SIGNATURE)$/,
      );
    });
  });
});
