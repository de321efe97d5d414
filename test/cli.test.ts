import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { VERSION } from "../src/version.ts";
import { Shell } from "./cli/shell.ts";
import { type CommandResult, refused, runLine, says } from "./cli/tools.ts";
import { TestFolder } from "./support/folder.ts";
import { listenLocally } from "./support/local-server.ts";
import { type Ended, useProgram } from "./support/program.ts";

/** The built program. */
const program = await useProgram();
/** Serves on a free port, in memory, without a log. */
const QUIET = ["serve", "--port", "0", "--ephemeral", "--log-level", "silent"];

type Environment = Readonly<Record<string, string>>;

/** Runs the program in a process. */
const clobsim = async (
  args: readonly string[],
  environment: Environment = {},
): Promise<Omit<Ended, "signal">> => {
  const { signal: _, ...ended } = await program.run(args, { environment });
  return ended;
};

/** Runs a command line in this process. */
const line = (args: readonly string[], environment: Environment = {}): Promise<CommandResult> =>
  runLine(args, program.folder, environment);

/** Starts a server on a free port. Resolves when its banner is complete. */
async function serve(args: readonly string[], environment: Environment = {}) {
  const { printed, end: stop } = program.launch([...QUIET, ...args], { environment });
  const complete = /answers at (http\S+)[^\n]*\n.*Try .*\n\n$/s;
  const banner = await printed((stdout) => complete.test(stdout));
  return { url: complete.exec(banner)?.[1], banner, stop };
}

async function expectInspector({ url, banner }: Awaited<ReturnType<typeof serve>>): Promise<void> {
  const [, page = ""] = /\n {2}inspector {3}(\S+)\n/.exec(banner) ?? [];
  expect(page).toBe(`${url}/`);
  const reply = await fetch(page, { headers: { accept: "text/html" } });
  expect(await reply.text()).toContain("<title>clobsim inspector</title>");
}

describe("clobsim", () => {
  const folder = new TestFolder();

  it.each(["--version", "-v"])("prints only the version for %s", async (flag) => {
    expect(await clobsim([flag])).toEqual({ code: 0, stdout: `${VERSION}\n`, stderr: "" });
  });

  it.each([
    ["--help", ["clobsim serve", "clobsim world"]],
    ["serve --help", ["--seed", "--no-personal-sign", "[default: 7070]", "Examples:", "CLOBSIM_LOG_LEVEL"]],
    ["world -h", ["--seed", "--out", "Examples:"]],
    ["help", ["clobsim serve", "clobsim world"]],
    ["serve help", ["--seed", "[default: 7070]", "Examples:"]],
    ["help serve", ["--seed", "[default: 7070]", "Examples:"]],
  ])("prints help within 100 columns: %j", async (words, expected) => {
    const { code, stdout, stderr } = await line(words.split(" "));
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const word of expected) expect(stdout).toContain(word);
    expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(100);
    expect(stdout).not.toMatch(/\[(boolean|string|number)\]/);
  });

  it("refuses command lines as its page shows, and writes nothing", async () => {
    folder.write("file", "");
    const shell = new Shell(folder);
    shell.names.set("TWO-LINES", "a\nb");
    const printed = await shell.expectPage(join(import.meta.dirname, "cli/refused.txt"));
    expect(printed).not.toContain("my secret");
    expect(printed).toMatch(/^(?:!2 clobsim: .*(?:\n|$))+$/);
    for (const name of ["d", "e", "d.json", "d.csv"])
      expect(existsSync(folder.at(name)), `${name} was written`).toBe(false);
  });

  it("warns about variables that it ignores", async () => {
    const stderr = "clobsim: variable CLOBSIM_PROT is ignored, did you mean CLOBSIM_PORT?\n";
    const ended = await line(["world", "--events", "1"], { CLOBSIM_PROT: "1" });
    expect(ended).toMatchObject({ code: 0, stderr });
  });
});

describe("clobsim world", () => {
  it("writes the same bytes for the same seed, in any time zone and language", async () => {
    const here = await clobsim(["world", "--seed", "7"]);
    const there = await clobsim(["world"], { CLOBSIM_SEED: "7", TZ: "Asia/Kolkata", LANG: "tr_TR.UTF-8" });
    expect(here).toMatchObject({ code: 0, stderr: "" });
    expect(there.stdout).toBe(here.stdout);
    expect(JSON.parse(here.stdout)).toMatchObject({ format: "clobsim-world/2", seed: "7" });
  });

  it("writes the requested numbers of events and markets", async () => {
    const { stdout } = await line(["world", "--events", "3", "--markets", "9"]);
    const { events } = JSON.parse(stdout) as { events: { markets: unknown[] }[] };
    expect(events.length).toBe(3);
    expect(events.flatMap(({ markets }) => markets).length).toBe(9);
  });

  it("writes the same to a file as to stdout", async () => {
    const path = program.path("world.json");
    const ended = await line(["world", "--events", "2", "--out", path]);
    expect(ended).toEqual({ code: 0, stdout: "", stderr: "" });
    const { stdout } = await line(["world", "--events", "2"]);
    expect(readFileSync(path, "utf8")).toBe(stdout);
  });
});

describe("clobsim serve", () => {
  it.each(["SIGTERM", "SIGINT"] as const)(
    "prints no colours if stdout is not a terminal, even with FORCE_COLOR, and stops with exit code 0 at %s",
    async (signal) => {
      const { banner, stop } = await serve([], { CI: "true", FORCE_COLOR: "1" });
      expect(banner).not.toContain("\u001b");
      expect(await stop(signal)).toMatchObject({ code: 0, stderr: "clobsim: stopping\n" });
    },
  );

  describe("with a frozen clock", async () => {
    const served = await serve(["--clock", "frozen"]);
    afterAll(() => served.stop("SIGTERM"));

    it("answers at the address and time in its banner", async () => {
      expect(served.banner).toMatch(/clock +frozen, 2026-01-01T00:00:00.000Z\n/);
      const reply = await fetch(`${served.url}/clob/time`);
      expect(await reply.json()).toEqual({ time: 1_767_225_600 });
    });

    it("prints a command that gets a book", async () => {
      const reply = await fetch(/curl "([^"]+)"/.exec(served.banner)?.[1] ?? "");
      expect(reply.status).toBe(200);
      expect(await reply.json()).toMatchObject({ bids: expect.any(Array), asks: expect.any(Array) });
    });

    it("serves the inspector at the address in its banner", () => expectInspector(served));

    it("prints a command that gets the API keys of each dev account", async () => {
      const { url, banner } = served;
      const addresses = [...banner.matchAll(/\d {2}(0x[\da-f]{40}) {2}0x/gi)].map(([, address]) => address);
      const commands = [...banner.matchAll(/\d {2}curl -X POST (\S+)\n/g)].map(([, target]) => target ?? "");
      expect(commands).toEqual(addresses.map((address) => `${url}/sim/accounts/${address}/credentials`));
      expect(commands).toHaveLength(10);
      const reply = await fetch(commands[9] ?? "", { method: "POST" });
      expect(Object.keys((await reply.json()) as object)).toEqual(["apiKey", "secret", "passphrase"]);
    });
  });

  it("prints the seed, the size of its world, ten accounts with their keys and commands with the token that they need", async () => {
    const { banner, stop } = await serve(["--seed", "7", "--markets", "3", "--sim-token", "t"]);
    expect(banner).toContain("curl -X POST -H x-sim-token:$CLOBSIM_SIM_TOKEN http://127.0.0.1:");
    expect(banner).toMatch(/seed +7\n/);
    expect(banner).toMatch(/world +\d+ events?, 3 markets\n/);
    expect(banner.match(/\d {2}0x[\da-f]{40} {2}0x[\da-f]{64}\n/gi)?.length).toBe(10);
    await stop("SIGTERM");
  });

  it("prints the first exchange of a pool, and the number of exchanges", async () => {
    const pool = await serve(["--pool", "4"]);
    const { url, banner, stop } = pool;
    await expectInspector(pool);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/1$/);
    expect(banner).toContain(`answers at ${url} to /4\n`);
    expect(banner).toMatch(/pool +4 exchanges, each opened at its first request\n/);
    const [, page = ""] = /curl "([^"]+)"/.exec(banner) ?? [];
    const [, keys = ""] = /curl -X POST (\S+)/.exec(banner) ?? [];
    expect([(await fetch(page)).status, (await fetch(keys, { method: "POST" })).status]).toEqual([200, 200]);
    const root = new URL(url ?? "").origin;
    const message = `${root} is a pool of 4 exchanges: name one of them, such as ${root}/1`;
    expect(await line(["record", "--url", root])).toEqual(refused(message));
    const recorded = await line(["record", "--url", `${root}/2`]);
    expect(recorded).toMatchObject({ code: 0, stdout: says("scenario: ") });
    await stop("SIGTERM");
  });

  it("names a port that is in use, and another one to try", async () => {
    const blocker = createServer();
    const port = await listenLocally(blocker);
    const message = `port ${port} of 127.0.0.1 is already in use: --port 0 takes a free one`;
    expect(await clobsim(["serve", "--ephemeral", "--port", `${port}`])).toEqual(refused(message));
    blocker.close();
  });

  it("names an invalid world file and the place of the error", async () => {
    const path = program.path("wrong.json");
    const { stdout: world } = await line(["world", "--events", "1"]);
    writeFileSync(path, world.replace(/"feeRateBps": \d+/, '"feeRateBps": "none"'));
    const ended = await line([...QUIET, "--world", path]);
    expect(ended).toEqual(refused(says("events[0].markets[0].feeRateBps: expected")));
    expect(ended.stderr).toContain(path);
  });
});
