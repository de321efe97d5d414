import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { VERSION } from "../src/version.ts";
import { type CommandResult, refused, runLine, says } from "./cli/tools.ts";
import { listenLocally } from "./support/local-server.ts";
import { type Ended, Program } from "./support/program.ts";
import { rowsOf } from "./support/table.ts";

/** The built program. */
const program = await Program.built(fileURLToPath(new URL("../bin/clobsim.js", import.meta.url)), []);
/** Serves on a free port, in memory, without a log. */
const QUIET = ["serve", "--port", "0", "--ephemeral", "--log-level", "silent"];

afterAll(() => program.dispose());

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

const COMMAND_NAMES =
  "serve, init, run, coverage, record, shrink, flow, fuzz, world, journal, replay, inspect, report, repair, doctor or completion";

describe("clobsim", () => {
  it.each(["--version", "-v"])("prints only the version for %s", async (flag) => {
    expect(await clobsim([flag])).toEqual({ code: 0, stdout: `${VERSION}\n`, stderr: "" });
  });

  it.each([
    ["--help", ["clobsim serve", "clobsim world"]],
    ["serve --help", ["--seed", "--no-personal-sign", "[default: 7070]", "Examples:", "CLOBSIM_LOG_LEVEL"]],
    ["world -h", ["--seed", "--out", "Examples:"]],
    ["help", ["clobsim serve", "clobsim world"]],
    ["help serve", ["--seed", "[default: 7070]", "Examples:"]],
  ])("prints help within 100 columns: %j", async (words, expected) => {
    const { code, stdout, stderr } = await line(words.split(" "));
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const word of expected) expect(stdout).toContain(word);
    expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(100);
    expect(stdout).not.toMatch(/\[(boolean|string|number)\]/);
  });

  it.each(
    rowsOf(`
    .                            | expected a command, ${COMMAND_NAMES}, found none (see clobsim --help)
    --port 3                     | expected a command before --port, such as clobsim serve --port 3
    -x                           | expected a command before -x, ${COMMAND_NAMES} (see clobsim --help)
    serve --clock frozzen        | --clock expects real, frozen or a rate such as 5x or 0.5x, at most 1000000x, found "frozzen", did you mean frozen?
    sevre                        | unknown command sevre, did you mean serve?
    banana                       | unknown command banana, expected ${COMMAND_NAMES}
    serve --prot 80              | unknown option --prot, did you mean --port?
    serve --Port 80              | unknown option --Port, did you mean --port?
    serve --no-personalsign      | unknown option --no-personalsign, did you mean --no-personal-sign?
    serve --zebras               | unknown option --zebras (see clobsim serve --help)
    serve -p 80                  | unknown option -p (see clobsim serve --help)
    fuzz --seeds -5..5           | --seeds expects FROM..TO with FROM below TO, such as 0..10000, 0..10_000 or 0..1e6, found "-5..5"
    run --grep -foo x.yaml       | --grep is followed by the option -foo: write --grep=-foo if it is its value
    run --grep --bial x.yaml     | unknown option --bial, did you mean --bail?
    world --port 80              | unknown option --port, did you mean --out?
    serve 7070                   | serve takes options only, found "7070"
    world -- --seed              | world takes options only, found "--seed"
    serve --ephemeral=Yes --data d | --ephemeral persists nothing, and --data is given too: leave out one of them
    serve --ephemeral=maybe      | --ephemeral expects true, yes, on, 1, false, no, off or 0, found "maybe"
    run --bail= x.yaml           | --bail expects true, yes, on, 1, false, no, off or 0, found nothing
    world --events 3 --markets 50 | markets: expected 3 to 24 for 3 events, found 50
    world --out ${tmpdir()}      | --out expects a file that can be written, found ${tmpdir()} (EISDIR)
    journal d --from 9 --to 5    | --to expects a line from --from 9 on, found 5
    completion tcsh              | completion expects bash, zsh, fish, found "tcsh"
    init a b                     | init expects one folder, found 2 (see clobsim init --help)
    serve --port 0 --world no.json --data d | --world no.json: there is no such file
    serve --port 0 --from no.ndjson --data d | there is no no.ndjson: expected a data directory or a report
    run no.yaml                  | no scenario file at no.yaml: expected a file, a folder with .yaml files, or a glob; names that begin with _ or . are left out
    shrink no.yaml --out d       | no scenario file at no.yaml: expected a file, a folder with .yaml files, or a glob; names that begin with _ or . are left out
    coverage no                  | no scenario file at no: expected a file, a folder with .yaml files, or a glob; names that begin with _ or . are left out
    replay no                    | there is no no: expected a data directory or a report
    record no --out d            | there is no no: expected a data directory or a report
    report no --out d            | there is no no: expected a data directory or a report
    inspect no                   | there is no no: expected a data directory or a report
    repair no --out d            | there is no no: expected a data directory or a report
    report --url http://127.0.0.1:1 --out d | nothing answers at http://127.0.0.1:1 (ECONNREFUSED): is clobsim serve running there?
    record --url http://127.0.0.1:1 --out d | nothing answers at http://127.0.0.1:1 (ECONNREFUSED): is clobsim serve running there?
    fuzz show no                 | no: there is no such file
    fuzz merge no --out d        | no: there is no such file or directory
    doctor a b                   | doctor expects one data directory, found 2 (see clobsim doctor --help)
    `),
  )("refuses %j with one sentence and exit code 2, and writes nothing", async (words, sentence) => {
    const args = words.split(" ").filter((word) => word !== "");
    expect(await line(args)).toEqual(refused(sentence));
    expect(existsSync(program.path("d")), "a file was written").toBe(false);
  });

  it("names an invalid variable", async () => {
    const clock =
      'CLOBSIM_CLOCK expects real, frozen or a rate such as 5x or 0.5x, at most 1000000x, found "fast"';
    expect(await clobsim(["serve"], { CLOBSIM_CLOCK: "fast" })).toEqual(refused(clock));
    const ephemeral = 'CLOBSIM_EPHEMERAL expects true, yes, on, 1, false, no, off or 0, found "maybe"';
    expect(await line(["serve"], { CLOBSIM_EPHEMERAL: "maybe" })).toEqual(refused(ephemeral));
  });

  it.each(
    rowsOf(`
    serve --ephemeral            | CLOBSIM_DATA=d     | --ephemeral persists nothing, and CLOBSIM_DATA is given too: leave out one of them
    serve --data d               | CLOBSIM_EPHEMERAL=1 CLOBSIM_DATA=e | CLOBSIM_EPHEMERAL persists nothing, and --data is given too: leave out one of them
    serve --ephemeral --markets 5 | CLOBSIM_WORLD=tiny | CLOBSIM_WORLD and --markets contradict each other: a world file has its own markets
    serve --ephemeral            | CLOBSIM_WORLD=tiny CLOBSIM_SEED=7 | tiny was made with seed tiny-334, CLOBSIM_SEED asks for 7: leave CLOBSIM_SEED out, or make a world with clobsim world --seed 7
    `),
  )("names the option of a contradiction as it was given: %j with %j", async (words, variables, sentence) => {
    const environment = Object.fromEntries((variables ?? "").split(" ").map((each) => each.split("=")));
    expect(await line(words.split(" "), environment)).toEqual(refused(sentence ?? ""));
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
  it.each(["SIGTERM", "SIGINT"] as const)("stops with exit code 0 at %s", async (signal) => {
    const { stop } = await serve([]);
    expect(await stop(signal)).toMatchObject({ code: 0, stderr: "clobsim: stopping\n" });
  });

  describe("with a frozen clock", () => {
    let served: Awaited<ReturnType<typeof serve>>;
    beforeAll(async () => {
      served = await serve(["--clock", "frozen"]);
    });
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

  it("prints commands with the token that they need", async () => {
    const { banner, stop } = await serve(["--sim-token", "t"]);
    expect(banner).toContain("curl -X POST -H x-sim-token:$CLOBSIM_SIM_TOKEN http://127.0.0.1:");
    await stop("SIGTERM");
  });

  it("prints the seed, the size of its world and ten accounts with their keys", async () => {
    const { banner, stop } = await serve(["--seed", "7", "--markets", "3"]);
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

  it("prints no colours if stdout is not a terminal, even with FORCE_COLOR", async () => {
    const { banner, stop } = await serve([], { CI: "true", FORCE_COLOR: "1" });
    expect(banner).not.toContain("\u001b");
    await stop("SIGTERM");
  });

  it("names a port that is in use, and another one to try", async () => {
    const blocker = createServer();
    const port = await listenLocally(blocker);
    const message = `port ${port} of 127.0.0.1 is already in use: --port 0 takes a free one`;
    expect(await line(["serve", "--ephemeral", "--port", `${port}`])).toEqual(refused(message));
    blocker.close();
  });

  it("refuses an address that this machine does not have", async () => {
    const message = "--host expects an address of this machine, found 192.0.2.1";
    expect(await line([...QUIET, "--host", "192.0.2.1", "--sim-token", "t"])).toEqual(refused(message));
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
