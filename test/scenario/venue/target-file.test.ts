import { readFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { readTargetFile } from "../../../src/scenario/venue/target-venue.ts";
import { ConfigError } from "../../../src/setting.ts";
import { pageWith } from "../../support/page.ts";
import { casesAtLevel } from "../../support/runs.ts";
import { ScenarioFolder } from "../run/scenario-folder.ts";

const folder = new ScenarioFolder();

const KEY = `0x${"3f".repeat(32)}`;
const API_KEY = "7d3a1f00-0b1c-4d2e-8f3a-9c4b5d6e7f80";
const SECRET = "c2VjcmV0IG9mIGFsaWNlIHdob20gd2UgdHJ1c3QuLi4=";
const PASSPHRASE = "9e107d9d372bb6826bd81d3542a419d6aabbccdd";
const SECRETS = [KEY, KEY.slice(2), String(BigInt(KEY)), API_KEY, SECRET, PASSPHRASE];

let files = 0;
const write = (text: string): string => {
  files += 1;
  return folder.write(`wallets-${files}.yaml`, text);
};

/** Returns the message that refuses a file with this text, without its path. */
function refusalOf(text: string, environment: Readonly<Record<string, string>> = {}): string {
  const path = write(text);
  try {
    readTargetFile(path, environment);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    expect(error.message.startsWith(`--wallets ${path}: `)).toBe(true);
    return error.message.slice(`--wallets ${path}: `.length);
  }
  throw new Error("the file was read");
}

const WHOLE = `markets: { rain: will-it-rain, snow: { market: "0x12", selfTrade: cancel-maker } }
accounts:
  alice:
    privateKey: "${KEY}"
    apiKey: ${API_KEY}
    secret: "${SECRET}"
    passphrase: ${PASSPHRASE}
    USDC: 1000.000001
    rain YES: 12.5
  bob: { privateKey: $BOB, USDC: 10, NO: 3 }
`;

describe("a wallets file", () => {
  it("maps markets, and gives wallets and funds of accounts, whose secrets may be in the environment", () => {
    const { markets, accounts } = readTargetFile(write(WHOLE), { BOB: KEY });
    expect([...markets]).toEqual([
      ["rain", { idOrSlug: "will-it-rain", selfTrade: "allow" }],
      ["snow", { idOrSlug: "0x12", selfTrade: "cancel-maker" }],
    ]);
    const credentials = { apiKey: API_KEY, secret: SECRET, passphrase: PASSPHRASE };
    const funds = { alice: { USDC: 1_000_000_001, "rain YES": 1_250 }, bob: { USDC: 10_000_000, NO: 300 } };
    expect([...accounts]).toEqual([
      ["alice", { privateKey: KEY, credentials, funds: new Map(Object.entries(funds.alice)) }],
      ["bob", { privateKey: KEY, credentials: null, funds: new Map(Object.entries(funds.bob)) }],
    ]);
  });

  it("may be JSON", () => {
    const accounts = { alice: { privateKey: KEY, USDC: 5 } };
    const path = write(JSON.stringify({ markets: { market: "m" }, accounts }));
    const funds = new Map([["USDC", 5_000_000]]);
    expect(readTargetFile(path, {}).accounts.get("alice")?.funds).toEqual(funds);
  });
});

describe("an invalid wallets file is refused with one sentence", () => {
  it("that says what was expected", async () => {
    const page = readFileSync(new URL("wrong-wallets.txt", import.meta.url), "utf8");
    const written = await pageWith(page, ({ text }) => [
      refusalOf(text.replaceAll("(KEY)", `"${KEY}"`).replaceAll("(API KEY)", API_KEY), { EMPTY: "" }),
    ]);
    await expect(written).toMatchFileSnapshot("wrong-wallets.txt");
  });

  it("if there is no file", () => {
    const path = folder.at("missing.yaml");
    expect(() => readTargetFile(path, {})).toThrow(`--wallets ${path}: there is no such file`);
    expect(() => readTargetFile(folder.path, {})).toThrow(
      `--wallets ${folder.path}: expected a file, found a directory`,
    );
  });
});

describe("no message contains a key", () => {
  /** Texts with a misplaced secret. */
  const misplaced = SECRETS.flatMap((secret) => [
    `${secret}: 1`,
    `accounts: { ${secret}: 1 }`,
    `accounts: { alice: { ${secret}: 1 } }`,
    `accounts: { alice: { "${secret}" } }`,
    `accounts: { alice: { privateKey: $${secret} } }`,
    `accounts: { alice: { privateKey: "${secret}x" } }`,
    `accounts: { alice: { privateKey: *${secret.replace(/\W/g, "")} } }`,
    `accounts: { alice: { privateKey: !${secret.replace(/\W/g, "")} x } }`,
    `accounts: { alice: { privateKey: "${KEY}", USDC: ${secret} } }`,
    `accounts: { alice: { privateKey: "${KEY}", "${secret} YES": x } }`,
    `markets: { "${secret}": }`,
  ]);

  it.each(misplaced)("%s", (text) => {
    const told = refusalOf(text);
    for (const secret of SECRETS) expect(told).not.toContain(secret);
  });

  it("if a file is truncated or changed by one character anywhere", () => {
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const texts = Array.from({ length: WHOLE.length }, (_, at) => [
      WHOLE.slice(0, at),
      `${WHOLE.slice(0, at)}${WHOLE.slice(at + 1)}`,
      `${WHOLE.slice(0, at)}]${WHOLE.slice(at)}`,
      `${WHOLE.slice(0, at)}!${WHOLE.slice(at)}`,
    ]).flat();
    let wrong = 0;
    for (const text of casesAtLevel(texts)) {
      const path = write(text);
      try {
        readTargetFile(path, { BOB: KEY });
      } catch (error) {
        wrong += 1;
        expect(error).toBeInstanceOf(ConfigError);
        const { message } = error as Error;
        expect(message.split("\n").length).toBe(1);
        for (const secret of SECRETS) expect(message).not.toContain(secret.slice(1, -1));
      }
    }
    expect(wrong).toBeGreaterThan(100);
    expect(warned).not.toHaveBeenCalled();
    warned.mockRestore();
  });
});
