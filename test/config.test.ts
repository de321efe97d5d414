import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { isLoopback } from "../src/api/loopback.ts";
import { type Config, DEFAULT_CONFIG, readConfig, SETTINGS } from "../src/config.ts";
import { flagOf, type Given, truth, valuesOf, variableOf } from "../src/setting.ts";
import { VERSION } from "../src/version.ts";

type Flags = Readonly<Record<string, readonly string[]>>;
type Environment = Readonly<Record<string, string>>;

const configOf = (flags: Flags, environment: Environment = {}): Config => readConfig({ flags, environment });

describe("the configuration", () => {
  it("has the defaults if nothing is given", () => {
    expect(configOf({})).toEqual(DEFAULT_CONFIG);
  });

  it.each<[string, string, Partial<Config>]>([
    ["host", "localhost", { host: "localhost" }],
    ["host", "::1", { host: "::1" }],
    ["port", "0", { port: 0 }],
    ["port", "65535", { port: 65_535 }],
    ["pool", "8", { pool: 8 }],
    ["seed", "007", { seed: "007" }],
    ["seed", "1", { seed: "1" }],
    ["clock", "frozen", { clock: { mode: "frozen" } }],
    ["clock", "5x", { clock: { mode: "scaled", rate: 5 } }],
    ["clock", "0.5x", { clock: { mode: "scaled", rate: 0.5 } }],
    ["start", "2026-01-01T01:00:00+01:00", { start: 1_767_225_600_000 as NonNullable<Config["start"]> }],
    ["world", "a file.json", { world: "a file.json" }],
    ["markets", "40", { markets: 40 }],
    ["numbers", "string", { numbers: "string" }],
    ["unknown-fields", "refuse", { unknownFields: "refuse" }],
    ["credentials", "once", { credentials: "once" }],
    ["log-level", "silent", { logLevel: "silent" }],
    ["data", "kept", { data: "kept" }],
    ["report", "reports", { report: "reports" }],
    ["sim-token", "s3cret", { simToken: "s3cret" }],
    ["allow-host", "Exchange.Test", { allowHost: ["exchange.test"] }],
    ["request-timeout", "1500ms", { requestTimeout: 1500 }],
    ["faucet", "12.5", { faucet: { collateral: 12_500_000, everyMarket: 1250 } as Config["faucet"] }],
    ["faucet", "0", { faucet: { collateral: 0, everyMarket: 0 } as Config["faucet"] }],
    ["personal-sign", "false", { personalSign: false }],
  ])("reads --%s %s, and the same from its variable", (name, text, expected) => {
    const config = { ...DEFAULT_CONFIG, ...expected, given: new Set([name]) };
    expect(configOf({ [name]: [text] })).toEqual(config);
    expect(configOf({}, { [variableOf(name)]: text })).toEqual(config);
  });

  it.each(
    Object.entries(SETTINGS)
      .filter(([, { read }]) => read === truth.read)
      .map(([key]) => key),
  )("accepts every spelling of yes and no for %s, in any case", (key) => {
    const name = flagOf(key);
    const readGiven = (given: Given): unknown => valuesOf(SETTINGS, given)[key as keyof typeof SETTINGS];
    for (const [words, value] of [
      [["true", "yes", "on", "1", "TRUE", "Yes", "oN"], true],
      [["false", "no", "off", "0", "False", "NO", "oFF"], false],
    ] as const) {
      for (const word of words) {
        expect(readGiven({ flags: { [name]: [word] }, environment: {} }), word).toBe(value);
        expect(readGiven({ flags: {}, environment: { [variableOf(name)]: word } }), word).toBe(value);
      }
    }
  });

  it("prefers a flag to its variable, and ignores an empty variable", () => {
    expect(configOf({ port: ["1"] }, { CLOBSIM_PORT: "2" }).port).toBe(1);
    expect(configOf({}, { CLOBSIM_PORT: "" }).port).toBe(DEFAULT_CONFIG.port);
  });

  it("accepts host names repeatedly", () => {
    expect(configOf({ "allow-host": ["a.test", "b.test"] }).allowHost).toEqual(["a.test", "b.test"]);
    expect(configOf({}, { CLOBSIM_ALLOW_HOST: "a.test, b.test" }).allowHost).toEqual(["a.test", "b.test"]);
  });

  // What is refused stands in cli/refused.txt.
  it("listens beyond loopback with a token", () => {
    expect(configOf({ host: ["0.0.0.0"], "sim-token": ["t"] }).host).toBe("0.0.0.0");
  });

  it.each(["127.0.0.1", "127.255.30.4", "::1", "localhost", "LocalHost"])("is loopback at %s", (host) => {
    expect(configOf({ host: [host] }).simToken).toBeNull();
  });

  it.each(["127.0.0.256", "127.0.0.01", "127.0.0.1.1", "127.1", "localhost.", "[127.0.0.1]"])(
    "is not loopback at %s",
    (host) => expect(isLoopback(host)).toBe(false),
  );

  it.each<[Flags, Environment, string | null]>([
    [{}, {}, "here"],
    [{}, { CLOBSIM_EPHEMERAL: "0" }, "here"],
    [{}, { CLOBSIM_EPHEMERAL: "1" }, null],
    [{ ephemeral: ["true"] }, {}, null],
    [{ durability: ["memory"] }, {}, null],
  ])(
    "with the flags %j and the variables %j persists in the default directory, or not at all",
    (flags, environment, data) => {
      expect(readConfig({ flags, environment }, "here").data).toBe(data);
    },
  );

  it("persists in a given directory", () => {
    const power = configOf({ data: ["there"], durability: ["power"], reset: ["true"] });
    expect(power).toMatchObject({ data: "there", durability: "power", reset: true });
  });

  it("has the version of package.json", () => {
    const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
    expect(VERSION).toBe(version);
  });
});
