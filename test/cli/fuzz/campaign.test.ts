import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Ended } from "../../support/program.ts";
import { plantedFuzzer, startFuzz } from "./planted.ts";

const fuzzer = await plantedFuzzer();
const run = (line: string): Promise<Ended> => startFuzz(fuzzer, line).ended;

/** Removes durations and rates. */
const timeless = (text: string): string => text.replace(/ in [\d.]+ m?s: .* a minute/, "");

describe("clobsim fuzz", () => {
  it("exits with 0 and writes nothing if no seed fails", async () => {
    const { code, stdout, stderr } = await run("--seeds 0..5");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(timeless(stdout)).toBe("5 seeds, 1,500 commands\nno failure\n");
    expect(existsSync(fuzzer.path("failures"))).toBe(false);
  });

  it("writes its output to the job summary", async () => {
    const environment = { GITHUB_STEP_SUMMARY: fuzzer.path("summary.md") };
    const { stdout } = await fuzzer.run(["fuzz", "--seeds", "0..5"], { environment });
    const summary = `## clobsim: fuzz, no failure\n\n\`\`\`\n${stdout}\`\`\`\n`;
    expect(fuzzer.read("summary.md")).toBe(summary);
  });

  it("writes results without failures if --out is given", async () => {
    const { code, stdout } = await run("--seeds 0..5 --out nothing");
    expect(code).toBe(0);
    expect(stdout).toContain("results  nothing/fuzz-0-5.json\n");
    expect(Object.keys(fuzzer.files("nothing"))).toEqual(["fuzz-0-5.json"]);
  });

  it("exits with 1 and prints each failure once: the smallest seed, its files, the command line that repeats it", async () => {
    const { code, stdout, stderr } = await run("--seeds 0..60 --out found");
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    expect(timeless(stdout)).toBe(`  ✗ account 5 has -5 USDC
    seeds    4; the smallest is 5, after command 7
    profile  2 accounts
    files    found/seed-5.yaml
    remark   no report of an odd seed
    repeat   clobsim fuzz --seeds 5..6 --commands 300

  ✗ order 11 is LIVE
    seeds    2; the smallest is 11, after command 30
    profile  2 accounts
    files    found/seed-11.yaml
    remark   no report of an odd seed
    repeat   clobsim fuzz --seeds 11..12 --commands 300

60 seeds, 16,288 commands
2 failures in 6 seeds
results  found/fuzz-0-60.json
`);
  });

  it("finds a failure again with the command line that repeats it", async () => {
    const { code, stdout } = await run("--seeds 11..12 --commands 300 --out again");
    expect(code).toBe(1);
    expect(stdout).toContain("✗ order 11 is LIVE");
    expect(Object.keys(fuzzer.files("again"))).toEqual(["fuzz-11-12.json", "seed-11.yaml"]);
  });

  it("replaces older results of the same seeds, even if nothing fails", async () => {
    const name = "failures/fuzz-0-5.json";
    fuzzer.write(name, "older results\n");
    await run("--seeds 0..5");
    expect(JSON.parse(fuzzer.read(name))).toMatchObject({ failures: [] });
  });

  it("names results and files so that shards and other settings can share a directory", async () => {
    for (const settings of ["", "--shard 2/3", "--commands 20"]) {
      await run(`--seeds 50..60 --out shared ${settings}`);
    }
    await run("--seeds 50..51 --out shared --via http");
    const ofSeed = (seed: string) => [`${seed}.ndjson`, `${seed}.yaml`];
    expect(Object.keys(fuzzer.files("shared"))).toEqual([
      ...["fuzz-50-51-http.json", "fuzz-50-60-2-of-3.json", "fuzz-50-60-20-commands.json", "fuzz-50-60.json"],
      ...["seed-52-20-commands", "seed-52", "seed-56-20-commands", "seed-56"].flatMap(ofSeed),
    ]);
  });

  it("starts no seed when its budget is used up, and prints its progress", async () => {
    const { code, stdout } = await run("--seeds 0..1e6 --budget 1ms --out short");
    expect(code).toBe(0);
    expect(stdout).toContain("the budget of 1ms was used up after 0 of 1,000,000 seeds\n");
    expect(JSON.parse(fuzzer.files("short")["fuzz-0-1000000.json"] ?? "")).toMatchObject({
      ran: [{ seeds: "0..1000000", shard: "1/1", done: 0 }],
    });
  });
});

describe("the results", () => {
  it("are the same files for any number of workers", async () => {
    const runs = [1, 2, 5].map(async (workers) => {
      const { stdout } = await run(`--seeds 0..500 --workers ${workers} --out workers-${workers}`);
      const output = timeless(stdout).replaceAll(`workers-${workers}`, "workers");
      return { output, files: fuzzer.files(`workers-${workers}`) };
    });
    const [one, two, five] = await Promise.all(runs);
    expect(Object.keys(one?.files ?? {})).toEqual(["fuzz-0-500.json", "seed-11.yaml", "seed-5.yaml"]);
    expect(two).toEqual(one);
    expect(five).toEqual(one);
  });

  it.each([1, 3])(
    "include seeds that end their thread, and the other seeds, with %i workers",
    async (workers) => {
      const { code, stdout } = await run(`--seeds 1002..1007 --workers ${workers} --out dead-${workers}`);
      expect(code).toBe(1);
      const thrown = "throws TypeError: order # of account # is undefined";
      const text = fuzzer.files(`dead-${workers}`)["fuzz-1002-1007.json"] ?? "";
      const { failures, ran } = JSON.parse(text) as { failures: readonly object[]; ran: readonly object[] };
      expect(ran).toMatchObject([{ done: 5 }]);
      expect(failures).toMatchObject([
        { seed: 1002, count: 2, fingerprint: thrown, command: 0, scenario: null },
        { seed: 1003, count: 1, fingerprint: "runs out of memory", sentence: "runs out of memory, 512 MiB" },
        { seed: 1004, count: 1, fingerprint: "ends its process with exit code 3" },
      ]);
      expect(stdout).toContain("✗ throws TypeError: order 12 of account 7 is undefined\n    seeds    2;");
      expect(stdout).toContain("no scenario and no report: the run does not end by itself");
    },
  );

  it("include a seed that hangs, and the seeds after it", async () => {
    const { code } = await run("--seeds 1000..1002 --workers 1 --seed-timeout 10s --out hangs");
    expect(code).toBe(1);
    expect(JSON.parse(fuzzer.files("hangs")["fuzz-1000-1002.json"] ?? "")).toMatchObject({
      ran: [{ done: 2 }],
      failures: [{ seed: 1001, fingerprint: "hangs" }],
    });
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)(
    "are complete when %s stops the campaign: all seeds before the first unfinished one",
    async (signal, expected) => {
      const campaign = startFuzz(fuzzer, `--seeds 1980..2100 --workers 1 --out ${signal}`);
      await campaign.prints("seed 2000 runs");
      const { code, stdout } = await campaign.end(signal);
      expect(code).toBe(expected);
      expect(stdout).toContain("interrupted after 20 of 120 seeds\n");
      const files = ["fuzz-1980-2100.json", "seed-1994.ndjson", "seed-1994.yaml"];
      expect(Object.keys(fuzzer.files(signal))).toEqual(files);
      expect(JSON.parse(fuzzer.files(signal)["fuzz-1980-2100.json"] ?? "")).toMatchObject({
        ran: [{ done: 20 }],
        failures: [{ seed: 1994, count: 1, scenario: "seed-1994.yaml", report: "seed-1994.ndjson" }],
      });
    },
  );
});

describe("a fuzzer that does not find the defect planted to test it", () => {
  const MESSAGE = "clobsim: the fuzzer did not find the defect planted to test it";

  it.each([
    ["prints that", "lost", ""],
    ["prints the error", "throws", ": its run throws Error: no canary"],
  ])("%s, exits with 1, and writes no results", async (_case, CANARY, more) => {
    const args = ["fuzz", "--seeds", "0..60", "--out", CANARY];
    const { code, stdout, stderr } = await fuzzer.run(args, { environment: { CANARY } });
    expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: "", stderr: `${MESSAGE}${more}\n` });
    expect(fuzzer.files(CANARY)).toEqual({});
  });
});
