import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  ConfigError,
  ExchangeClient,
  openExchange,
  type StartOptions,
  startExchange,
  walletOf,
} from "../src/index.ts";
import { type ScenarioSuiteOptions, scenarioSuite } from "../src/vitest.ts";
import { temporaryFolder } from "./support/folder.ts";
import { fetchJson } from "./support/http.ts";
import { rowsOf } from "./support/table.ts";

const folder = temporaryFolder();
const tiny = { world: "fixtures/worlds/tiny.json", clock: "frozen" } as const;

const hashOf = async ({ url }: { readonly url: string }): Promise<string> =>
  (await fetchJson<{ hash: string }>(url, "/sim/state/hash")).hash;

describe("startExchange", () => {
  it("starts several exchanges that are equal and independent", async () => {
    const [one, other] = await Promise.all([startExchange(tiny), startExchange(tiny)]);
    const opened = await hashOf(one);
    expect(await hashOf(other)).toBe(opened);
    await fetchJson(one.url, "/sim/events", { title: "Only here" });
    expect(await hashOf(one)).not.toBe(opened);
    expect(await hashOf(other)).toBe(opened);
    await Promise.all([one.close(), other.close()]);
  });

  it("refuses a seed that differs from the world's, also on repeated opening", async () => {
    const seeded = { ...tiny, seed: "tiny-334" };
    for (const { close } of [await startExchange(seeded), await startExchange(seeded)]) await close();
    await expect(startExchange({ ...tiny, seed: "9" })).rejects.toThrow("was made with seed tiny-334");
  });

  it("lists the dev accounts of a world whose keys its seed gives, and no others", async () => {
    const world = join(folder, "own-account.json");
    const text = readFileSync(tiny.world, "utf8");
    writeFileSync(world, text.replace(/(?<="devAccounts": \[\s*"0x)\w{40}/, "f".repeat(40)));
    await using own = await startExchange({ world });
    await using all = await startExchange(tiny);
    expect(own.devAccounts).toEqual(all.devAccounts.slice(1));
    expect(await fetchJson(own.url, "/sim")).toMatchObject({ devAccounts: own.devAccounts });
  });

  it("opens a world file with the byte order mark and the line ends of Windows", async () => {
    const world = join(folder, "windows.json");
    writeFileSync(world, `\ufeff${readFileSync(tiny.world, "utf8").replaceAll("\n", "\r\n")}`);
    await using windows = await startExchange({ world, clock: "frozen" });
    await using own = await startExchange({ ...tiny, clock: "frozen" });
    expect(await hashOf(windows)).toBe(await hashOf(own));
  });

  it("continues from the exchange in its data directory", async () => {
    const options = { ...tiny, data: join(folder, "data") };
    const first = await startExchange(options);
    await fetchJson(first.url, "/sim/events", { title: "Persisted" });
    const hash = await hashOf(first);
    await first.close();
    await using second = await startExchange(options);
    expect(await hashOf(second)).toBe(hash);
  });

  it.each(
    rowsOf(`
    {"sed":7}                      | unknown option sed, did you mean seed?
    {"allowHosts":"a"}             | unknown option allowHosts, did you mean allowHost?
    {"clock":"fast"}               | clock expects real, frozen or a rate such as 5x or 0.5x
    {"clock":"frozzen"}            | found "frozzen", did you mean frozen?
    {"world":"tiney"}              | world tiney: there is no such file, and no world tiney comes with clobsim, only tiny and small, did you mean tiny?
    {"world":"./a.json"}           | world ./a.json: there is no such file
    {"world":"tiny","markets":3}   | world and markets contradict each other
    {"world":"tiny","seed":8}      | seed asks for 8: leave seed out, or make a world with clobsim world --seed 8
    {"port":65536}                 | a whole number from 0 to 65535, found "65536"
    {"from":"nosuch"}              | there is no nosuch: expected a data directory or a report
    {"data":"package.json"}        | package.json is a file, expected a directory
    `),
  )("refuses %s: %s", async (options = "", message = "") => {
    const refused = startExchange(JSON.parse(options) as StartOptions);
    await expect(refused).rejects.toThrow(ConfigError);
    await expect(refused).rejects.toThrow(message);
  });
});

it("startExchange with a port in use throws the program's message, with the system's error as the cause", async () => {
  await using first = await startExchange(tiny);
  const error = await startExchange({ ...tiny, port: first.port }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ConfigError);
  expect(error).toMatchObject({
    message: `port ${first.port} of 127.0.0.1 is already in use: port 0 takes a free one`,
    cause: { code: "EADDRINUSE" },
  });
});

describe("startExchange with a data directory that cannot be opened", () => {
  const refusalOf = async (data: string): Promise<Error> =>
    (await startExchange({ ...tiny, data }).catch((thrown: unknown) => thrown)) as Error;

  it("names its options in message and stack if the directory is in use", async () => {
    const data = join(folder, "used");
    await using _first = await startExchange({ ...tiny, data });
    const { name, message, stack } = await refusalOf(data);
    const start =
      process.platform === "linux" ? "" : `or remove ${join(data, "lock")} if it is another program, `;
    const remedy = `stop it, ${start}give another directory with data, or use ephemeral`;
    expect(message).toBe(`${data} is in use by process ${process.pid}: ${remedy}`);
    expect(stack).toContain(`${name}: ${message}\n`);
  });

  it("leaves the command line that the message advises as it is", async () => {
    const data = join(folder, "emptied");
    await (await startExchange({ ...tiny, data })).close();
    writeFileSync(join(data, "journal.ndjson"), "");
    const { message } = await refusalOf(data);
    expect(message).toContain(`clobsim serve --world ${join(data, "db.json")} --data NEW`);
  });
});

describe("startExchange with an option of a wrong type", () => {
  /** One valid value for each option; the compiler checks that none is missing. */
  const VALID: Required<{ readonly [Name in keyof StartOptions]: unknown }> = {
    ...{ host: "127.0.0.1", port: 0, pool: 2, seed: 7, clock: "frozen", bots: "normal", world: "w.json" },
    ...{ start: "2026-01-01T00:00:00Z", from: "r.ndjson", at: 3, markets: 3, numbers: "string" },
    ...{ credentials: "once", logLevel: "info", simToken: "t", allowHost: ["a"], requestTimeout: "10s" },
    ...{ faucet: 1, approvals: "required", personalSign: true, unknownFields: "refuse", settlement: "auto" },
    ...{ balances: "settled", data: "d", ephemeral: true, durability: "power", reset: true, report: "r" },
  };
  const WRONG: readonly [unknown, string][] = [
    [{}, "an object"],
    [[1], "an array"],
    [null, "null"],
    [() => 1, "a function"],
    [Promise.resolve(1), "a promise, which must be awaited"],
    [Symbol("s"), "a symbol"],
    [Number.NaN, "NaN"],
  ];

  it.each(Object.entries(VALID))(
    "%s: the error has the expected and the found value",
    async (name, valid) => {
      const isSecret = name === "simToken";
      const others =
        typeof valid === "boolean" ? ["yes", 1] : typeof valid === "number" ? [true] : [true, {}];
      for (const [value, found] of [...WRONG, ...others.map((other) => [other, ""] as const)]) {
        const refused = startExchange({ [name]: value } as StartOptions);
        await expect(refused, String(found)).rejects.toThrow(ConfigError);
        const message = await refused.catch((error: Error) => error.message);
        expect(message).toMatch(new RegExp(`^${name} expects (?:a |true or false)[^\n]*, found [^\n]+$`));
        if (!isSecret) expect(message).toContain(`, found ${found}`);
      }
    },
  );

  it("treats undefined as not given", async () => {
    const nothing = Object.fromEntries(Object.keys(VALID).map((name) => [name, undefined]));
    const [one, other] = [
      await startExchange({ ...nothing, ...tiny }),
      await startExchange({ ...nothing, ...tiny }),
    ];
    expect(one.port).not.toBe(other.port);
    await Promise.all([one.close(), other.close()]);
  });

  it.each([[null], [5], ["seed"], [[]]])("refuses %j instead of options", async (options) => {
    await expect(startExchange(options as unknown as StartOptions)).rejects.toThrow(
      "the options are expected as an object, found ",
    );
  });
});

describe("new ExchangeClient", () => {
  const ORIGIN = "http://127.0.0.1:7070";
  const WALLET = "a wallet, such as await walletOf(privateKey)";
  const KEYS = "{ address, apiKey, secret, passphrase }, four strings";
  const TIME = '"local", "server" or a function that answers Unix seconds';

  it.each<[string, unknown, string]>([
    ["account", walletOf(`0x${"1".repeat(64)}`), `${WALLET}, found a promise, which must be awaited`],
    ["account", `0x${"1".repeat(64)}`, `${WALLET}, found another text`],
    ["credentials", { apiKey: "a" }, `${KEYS}, found an object`],
    ["time", "remote", `${TIME}, found the string "remote"`],
    ["transport", {}, "a function, found an object"],
    ["simToken", 5, "a text, found a number"],
    ["chainId", "137", 'a whole number from 1 on, found the string "137"'],
    ["timeoutMs", 0, "a whole number from 1 to 2147483647, found the number 0"],
  ])("refuses the option %s of another type", (name, value, message) => {
    const make = () => new ExchangeClient(ORIGIN, { [name]: value });
    expect(make).toThrow(TypeError);
    expect(make).toThrow(`${name} expects ${message}`);
  });

  it.each([null, undefined, "GET /clob/time"])("refuses to send %s", async (raw) => {
    const sent = new ExchangeClient(ORIGIN).send(raw as never);
    await expect(sent).rejects.toThrow("send expects a request { method, path, body }, found");
  });

  it("refuses an unknown option", () => {
    const make = () => new ExchangeClient(ORIGIN, { tim: "server" } as object);
    expect(make).toThrow(new TypeError("unknown option tim, did you mean time?"));
  });
});

describe("openExchange", () => {
  it.each([{ host: "localhost" }, { port: 7070 }, { pool: 2 }])("refuses %j", async (options) => {
    const [name] = Object.keys(options);
    const message = `${name} is no option of openExchange, but of startExchange and clobsim serve`;
    await expect(openExchange(options as object)).rejects.toThrow(new ConfigError(message));
  });

  it("says to its clients that it is closed", async () => {
    const exchange = await openExchange(tiny);
    const client = new ExchangeClient("http://localhost", { transport: exchange.transport });
    await exchange.close();
    expect(await client.serverTime()).toMatchObject({
      error: { code: "CONNECTION_LOST", message: "no reply from http://localhost: the exchange is closed" },
    });
  });

  it("lets timers run while a program awaits one reply after the other", async () => {
    await using exchange = await openExchange(tiny);
    const client = new ExchangeClient("http://localhost", { transport: exchange.transport });
    let hasRun = false;
    setTimeout(() => {
      hasRun = true;
    }, 0);
    for (let requests = 0; requests < 200 && !hasRun; requests += 1) await client.markets({ limit: 1 });
    expect(hasRun).toBe(true);
  });
});

describe.each([
  ["openExchange", openExchange],
  ["startExchange", startExchange],
] as const)("%s", (_, open) => {
  it("answers and moves its clock while a test has fake timers", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    await using exchange = await open(tiny);
    const client = new ExchangeClient("http://localhost", { transport: exchange.transport });
    const url = "url" in exchange ? exchange.url : null;
    const times = await Promise.all(
      Array.from({ length: 6 }, () => (url === null ? client.serverTime() : fetch(`${url}/clob/time`))),
    );
    expect(times.map(({ ok }) => ok)).toEqual([true, true, true, true, true, true]);
    const moved = await client.control.setClock({ advance: "1h" });
    expect(moved.ok && Date.parse(moved.value.time)).toBe(exchange.startedAt + 3_600_000);
    expect(await client.control.setClock({ advance: "1h" })).toMatchObject({ ok: true });
  });
});

describe("scenarioSuite", () => {
  it.each<[unknown, object | null, string]>([
    [5, {}, "paths expects a text or a list of texts, found the number 5"],
    ["scenarios", { via: "smoke" }, 'via expects "auto", "process" or "http", found the string "smoke"'],
    ["scenarios", { seed: {} }, "seed expects a text or a number, found an object"],
    ["scenarios", { repeat: 0 }, "repeat expects a whole number from 1 to 1000000, found the number 0"],
    ["scenarios", { vai: "http" }, "unknown option vai, did you mean via?"],
    ["scenarios", null, "the options are expected as an object, found null"],
  ])("refuses %j with %j", (paths, options, message) => {
    const suite = () => scenarioSuite(paths as string, options as ScenarioSuiteOptions);
    expect(suite).toThrow(TypeError);
    expect(suite).toThrow(message);
  });

  it("names the folder in which it finds no scenario", () => {
    const where = `(paths are relative to ${process.cwd()})`;
    expect(() => scenarioSuite("nowhere")).toThrow(/^no scenario file at nowhere: /);
    expect(() => scenarioSuite("nowhere")).toThrow(where);
  });
});

it("POST /sim/reset resets a moved clock to the system's time", async () => {
  const { url, close } = await startExchange({ world: tiny.world });
  await fetchJson(url, "/sim/clock", { mode: "scaled", rate: 600, advance: "2h" });
  await fetchJson(url, "/sim/reset", {});
  const clock = await fetchJson<{ unixTime: number }>(url, "/sim/clock");
  expect(clock).toMatchObject({ mode: "real", rate: 1 });
  expect(Math.abs(clock.unixTime - Date.now() / 1000)).toBeLessThan(60);
  await close();
});
