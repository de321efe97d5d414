import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { writeSourceFiles } from "../../src/scenario/run/files.ts";
import { temporaryFolder } from "../support/folder.ts";
import { refused, run, says, serve, trade, traderOn } from "./tools.ts";

/** A planted defect: orders of 13.37 shares throw. */
const defect = vi.hoisted(() => ({ isActive: true }));
vi.mock("../../src/core/rules/rules.ts", async (original) => {
  const core = await original<typeof import("../../src/core/rules/rules.ts")>();
  const decide: typeof core.decide = (state, stamped) => {
    const { command } = stamped;
    if (defect.isActive && command.kind === "placeOrder" && command.size === 1337) throw new Error("boom");
    return core.decide(state, stamped);
  };
  return { ...core, decide };
});

const folder = temporaryFolder();

describe("clobsim report", () => {
  it("writes the session of a running server, persisted or not, and a replay ends in the same state", async () => {
    for (const data of [null, join(folder, "data")]) {
      const server = await serve({ data });
      await trade(server.url);
      const file = join(folder, `running-${data === null ? "unkept" : "kept"}.ndjson`);
      const written = await run("report", [server.url], { out: file, reason: "a wrong fill" });
      const hash = await (await fetch(`${server.url}/sim/state/hash`)).json();
      await server.close();
      expect(written).toMatchObject({ code: 0, stderr: says(`clobsim replay ${file}`) });
      const stdout = says(
        new RegExp(`written because a wrong fill.*state ${(hash as { hash: string }).hash}`, "s"),
      );
      expect(await run("replay", [file])).toEqual({ code: 0, stdout, stderr: "" });
    }
  });

  it("refuses if a line of the journal was changed while the server runs", async () => {
    const data = join(folder, "changed");
    const server = await serve({ data });
    await trade(server.url);
    const journal = join(data, "journal.ndjson");
    const bytes = readFileSync(journal);
    const at = bytes.indexOf('{"n":5,');
    writeFileSync(journal, bytes.fill("X", at + 30, at + 31));
    const out = join(folder, "changed.ndjson");
    const { code, stderr } = await run("report", [server.url], { out });
    const { status } = await fetch(`${server.url}/sim/report`);
    await server.close();
    expect([code, status, existsSync(out)]).toEqual([2, 503, false]);
    expect(stderr).toContain(`${journal} is damaged at byte ${at}, where line 5 should begin: `);
    expect(stderr).toContain(`(clobsim report ${data} writes a report of the lines before the damage)`);
  });

  it("writes the journal of a directory without changing it", async () => {
    const before = readFileSync(join(folder, "data/journal.ndjson"));
    const file = join(folder, "directory.ndjson");
    expect((await run("report", [join(folder, "data")], { out: file })).code).toBe(0);
    expect(readFileSync(file).subarray(0, before.length).equals(before)).toBe(true);
    expect(readFileSync(join(folder, "data/journal.ndjson")).equals(before)).toBe(true);
    expect((await run("replay", [file])).code).toBe(0);
  });

  it("has no secret", async () => {
    const server = await serve({ simToken: "hush-hush" });
    const { secret, passphrase, apiKey } = (await traderOn(server.url)).credentials;
    const headers = { "x-sim-token": "hush-hush" };
    const text = await (await fetch(`${server.url}/sim/report`, { headers })).text();
    await server.close();
    for (const word of [secret, passphrase, apiKey, "hush-hush"]) expect(text).not.toContain(word);
  });

  it("accepts a server as --url, as --from, as their variables, or as an argument", async () => {
    const server = await serve({});
    const { url } = server;
    const out = join(folder, "named.ndjson");
    const texts: string[] = [];
    for (const [words, flags, environment] of [
      [[], { url }, {}],
      [[], { from: url }, {}],
      [[], {}, { CLOBSIM_URL: url }],
      [[], {}, { CLOBSIM_FROM: url }],
      [[url], {}, {}],
    ] as const) {
      expect(
        (await run("report", words, { ...flags, out }, environment as Record<string, string>)).code,
      ).toBe(0);
      texts.push(readFileSync(out, "utf8"));
    }
    await server.close();
    expect(new Set(texts).size).toBe(1);
  });

  it("prefers a directory on the command line to a server in the environment", async () => {
    const out = join(folder, "named-directory.ndjson");
    const url = "http://127.0.0.1:1";
    const words = [join(folder, "data")];
    expect((await run("report", words, { out }, { CLOBSIM_URL: url })).code).toBe(0);
    const message = "report expects one directory or the URL of a server";
    expect(await run("report", words, { out, url })).toEqual(refused(says(message)));
  });

  it("exits with 2 if no server answers or the directory does not exist", async () => {
    expect((await run("report", ["http://127.0.0.1:1"])).code).toBe(2);
    expect((await run("report", [join(folder, "nothing")])).code).toBe(2);
  });
});

describe("a defect of a server", () => {
  const reports = join(folder, "reports");
  const file = join(reports, "defect.ndjson");

  it("is written with the command that failed, readable only by the owner", async () => {
    const server = await serve({ report: reports });
    const { place } = await traderOn(server.url);
    expect(await place(13.37)).toMatchObject({ ok: false, error: { code: "INTERNAL_ERROR" } });
    await server.close();
    expect(readdirSync(reports)).toEqual(["defect.ndjson"]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const line = /"k":"defect","d":\{"command":\{"kind":"placeOrder".*"message":"boom"/;
    expect(readFileSync(file, "utf8")).toMatch(line);
  });

  it("fails in the same way when it is replayed, and differs once it is fixed", async () => {
    const stdout = says("fails in the same way");
    expect(await run("replay", [file])).toMatchObject({ code: 0, stdout });
    defect.isActive = false;
    const fixed = await run("replay", [file]);
    defect.isActive = true;
    expect(fixed).toMatchObject({ code: 7, stderr: says("fails: boom") });
  });

  it("is shrunk to a scenario that fails in the same way", async () => {
    expect(await run("shrink", [file])).toMatchObject({ code: 0, stdout: says("BUY 13.37") });
  });

  it("is required for shrinking a report", async () => {
    const ended = await run("shrink", [join(folder, "directory.ndjson")]);
    expect(ended).toMatchObject({ code: 1, stderr: says("does not fail") });
  });
});

describe("clobsim run --report", () => {
  const failing = (name: string, steps: string): string => `scenario: ${name}
accounts: { alice: { USDC: 100 }, bob: { YES: 100 } }
steps:
${steps}  - expect: { orders: { bid: LIVE 0/11 } }
`;

  it.each(["process", "http"])("writes a report of a failed scenario, via %s", async (via) => {
    const scenario = join(folder, "small.yaml");
    writeFileSync(scenario, failing("small", "  - alice: BUY 10 YES @ 0.50 as bid\n"));
    const reports = join(folder, `run-${via}`);
    expect((await run("run", [scenario], { via, report: reports })).code).toBe(1);
    const why = /written because .*small\.yaml fails at step 2: bid is LIVE 0\/10, expected LIVE 0\/11/;
    const replayed = await run("replay", [join(reports, "small.ndjson")]);
    expect(replayed).toMatchObject({ code: 0, stdout: says(why) });
  });

  it("includes the scenario and its files, and is shrunk where those do not exist", async () => {
    const sources = join(folder, "sources");
    mkdirSync(join(sources, "parts"), { recursive: true });
    const flow =
      "at,account,op,ref,side,outcome,price,size,type\n0,bob,place,,SELL,YES,0.7,5,GTC\n0,bob,place,,SELL,YES,0.7,5,GTX\n";
    writeFileSync(join(sources, "parts/flow.csv"), flow);
    writeFileSync(join(sources, "parts/start.yaml"), "steps:\n  - alice: BUY 10 YES @ 0.50 as bid\n");
    const scenario = join(sources, "far.yaml");
    writeFileSync(scenario, failing("far", "  - include: parts/start.yaml\n  - replay: parts/flow.csv\n"));
    const reports = join(folder, "far-reports");
    expect((await run("run", [scenario], { report: reports })).code).toBe(1);
    const inPlace = await run("shrink", [scenario], { out: join(sources, "small.yaml") });
    const expected = readFileSync(join(sources, "small.yaml"), "utf8");
    rmSync(sources, { recursive: true });
    const out = join(folder, "elsewhere", "small.yaml");
    mkdirSync(join(folder, "elsewhere"));
    const report = join(reports, "far.ndjson");
    expect((await run("replay", [report])).stdout).not.toContain("may be cut");
    const { code } = await run("shrink", [report], { out });
    expect([inPlace.code, code]).toEqual([0, 0]);
    expect(readFileSync(out, "utf8")).toBe(expected);
    expect(expected).toContain("parts/flow.csv");
    expect(readFileSync(join(folder, "elsewhere/parts/flow.csv"), "utf8")).toBe(flow);
    expect((await run("run", [out])).code).toBe(1);
  });

  it.each(["../out.yaml", "/etc/x", "a/../../b", ".", ""])(
    "is refused with the file path %j, which is outside the scenario's folder",
    (name) => {
      const inside = join(folder, "inside");
      expect(() => writeSourceFiles({ file: "a.yaml", texts: { [name]: "a" } }, inside)).toThrow(RangeError);
      expect(existsSync(inside)).toBe(false);
    },
  );
});
