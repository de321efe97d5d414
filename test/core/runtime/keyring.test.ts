import { describe, expect, it } from "vitest";
import { Keyring } from "../../../src/engine/keyring.ts";
import { addressOf } from "../../support/commands.ts";
import { START, TestExchange } from "../../support/exchange.ts";

function openKeyed(seed = "test") {
  const exchange = new TestExchange();
  const keyring = new Keyring(exchange.exchange, seed);
  const derive = (name: string) => {
    exchange.derive(name);
    return keyring.latest(addressOf(name));
  };
  return { exchange, keyring, derive };
}

const PARTS = ["apiKey", "secret", "passphrase"] as const;
const texts = (set: Readonly<Record<(typeof PARTS)[number], string>>) => PARTS.map((part) => set[part]);

describe("a set of credentials", () => {
  it("is a UUID and two values of 32 bytes in hex", () => {
    const { derive } = openKeyed();
    for (let count = 0; count < 50; count += 1) {
      const { apiKey, secret, passphrase } = derive("alice");
      expect(apiKey).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(secret).toMatch(/^[0-9a-f]{64}$/);
      expect(passphrase).toMatch(/^[0-9a-f]{64}$/);
    }
  });

  it("is a function of the seed, the address and its number of derivations", () => {
    const [one, two] = [openKeyed(), openKeyed()];
    two.derive("bob");
    two.exchange.market();
    expect(texts(two.derive("alice"))).toEqual(texts(one.derive("alice")));
    expect(texts(two.derive("alice"))).toEqual(texts(one.derive("alice")));
  });

  it("differs in every part for another seed, address or derivation", () => {
    const { derive } = openKeyed();
    const sets = [derive("alice"), derive("alice"), derive("bob"), openKeyed("other").derive("alice")];
    for (const part of PARTS) {
      expect(new Set(sets.map((set) => set[part])).size).toBe(4);
    }
  });
});

describe("a keyring", () => {
  it("finds every set by its API key, also earlier ones, and those derived before it was created", () => {
    const { exchange, keyring, derive } = openKeyed();
    const names = ["alice", "alice", "bob"];
    const sets = names.map(derive);
    for (const each of [keyring, new Keyring(exchange.exchange, "test")]) {
      const found = sets.map(({ apiKey }) => each.find(apiKey));
      expect(found.map((set) => set?.address)).toEqual(names.map(addressOf));
      expect(found.map((set) => set?.secret)).toEqual(sets.map(({ secret }) => secret));
    }
  });

  it("returns the latest set without a new derivation", () => {
    const { keyring, derive } = openKeyed();
    derive("alice");
    const latest = derive("alice");
    expect(texts(keyring.latest(addressOf("alice")))).toEqual(texts(latest));
  });

  it.each(["", "x", "00000000-0000-8000-8000-000000000000", "__proto__"])("finds nothing by %j", (apiKey) => {
    expect(openKeyed().keyring.find(apiKey)).toBe(undefined);
  });

  it.each(["alice", "bob"])("throws for an address that never derived: %s", (name) => {
    const { exchange, keyring } = openKeyed();
    exchange.fund("bob", { usdc: 1 });
    expect(() => keyring.latest(addressOf(name))).toThrow("has not derived");
  });

  it("finds no set after a restart until it is derived again", () => {
    const { exchange, keyring, derive } = openKeyed();
    const [first, second] = [derive("alice"), derive("alice")];
    exchange.exchange.restart(START);
    expect([keyring.find(first.apiKey), keyring.find(second.apiKey)]).toEqual([undefined, undefined]);
    expect(texts(derive("alice"))).toEqual(texts(first));
    expect(keyring.find(first.apiKey)?.secret).toBe(first.secret);
    expect(keyring.find(second.apiKey)).toBe(undefined);
  });
});
