import { execFile } from "node:child_process";
import { chmodSync, cpSync, existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { VERSION } from "../../../src/version.ts";
import { type Ended, type Launched, Program } from "../../support/program.ts";
import { Shell } from "../shell.ts";

/** The program with seeds that fail in known ways. */
const RUNNER = readFileSync("test/fuzz/campaign/planted-runner.ts", "utf8");
const fuzzer = await Program.bundled(new Map([["src/fuzz/in-process.ts", RUNNER]]));
afterAll(() => fuzzer.dispose());

/** Starts `clobsim fuzz` with a command line. */
const start = (line: string): Launched =>
  fuzzer.launch(["fuzz", ...line.split(" ").filter((word) => word !== "")]);
const run = (line: string): Promise<Ended> => start(line).ended;

/** Removes durations and rates. */
const timeless = (text: string): string => text.replace(/ in [\d.]+ m?s: .* a minute/, "");

describe("clobsim fuzz", () => {
  it("exits with 0, writes nothing if no seed fails, and its output to the job summary", async () => {
    const environment = { GITHUB_STEP_SUMMARY: fuzzer.path("summary.md") };
    const { code, stdout, stderr } = await fuzzer.run(["fuzz", "--seeds", "0..5"], { environment });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(timeless(stdout)).toBe("5 seeds, 1,500 commands\nno failure\n");
    expect(existsSync(fuzzer.path("failures"))).toBe(false);
    expect(fuzzer.read("summary.md")).toBe(`## clobsim: fuzz, no failure\n\n\`\`\`\n${stdout}\`\`\`\n`);
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
      await run(`--seeds 50..60 --out settings ${settings}`);
    }
    await run("--seeds 50..51 --out settings --via http --budget 1ms");
    const ofSeed = (seed: string) => [`${seed}.ndjson`, `${seed}.yaml`];
    expect(Object.keys(fuzzer.files("settings"))).toEqual([
      ...["fuzz-50-51-http.json", "fuzz-50-60-2-of-3.json", "fuzz-50-60-20-commands.json", "fuzz-50-60.json"],
      ...["seed-52-20-commands", "seed-52", "seed-56-20-commands", "seed-56"].flatMap(ofSeed),
    ]);
  });

  it("starts no seed when its budget is used up, and prints and writes its progress if --out is given", async () => {
    const { code, stdout } = await run("--seeds 0..1e6 --budget 1ms --out short");
    expect(code).toBe(0);
    expect(stdout).toContain("the budget of 1ms was used up after 0 of 1,000,000 seeds\n");
    expect(stdout).toContain("results  short/fuzz-0-1000000.json\n");
    expect(JSON.parse(fuzzer.files("short")["fuzz-0-1000000.json"] ?? "")).toMatchObject({
      ran: [{ seeds: "0..1000000", shard: "1/1", done: 0 }],
    });
  });
});

describe("the results", () => {
  it("are the same files for any number of workers", async () => {
    const runs = [1, 3].map(async (workers) => {
      const { stdout } = await run(`--seeds 0..200 --workers ${workers} --out workers-${workers}`);
      const output = timeless(stdout).replaceAll(`workers-${workers}`, "workers");
      return { output, files: fuzzer.files(`workers-${workers}`) };
    });
    const [one, three] = await Promise.all(runs);
    expect(Object.keys(one?.files ?? {})).toEqual(["fuzz-0-200.json", "seed-11.yaml", "seed-5.yaml"]);
    expect(three).toEqual(one);
  });

  /** Runs seeds, of which some fail, and returns its output and results. */
  async function resultsOf(seeds: string, more: string) {
    const { code, stdout } = await run(`--seeds ${seeds} ${more} --out dead`);
    expect(code).toBe(1);
    const text = fuzzer.files("dead")[`fuzz-${seeds.replace("..", "-")}.json`] ?? "";
    return { stdout, ...(JSON.parse(text) as { failures: readonly object[]; ran: readonly object[] }) };
  }

  it.each([1, 3])(
    "include seeds that end their thread, and the other seeds, with %i workers",
    async (workers) => {
      const more = `--workers ${workers} --seed-timeout 10m`;
      const { stdout, failures, ran } = await resultsOf("1002..1007", more);
      expect(ran).toMatchObject([{ done: 5 }]);
      const thrown = "throws TypeError: order # of account # is undefined";
      expect(failures).toMatchObject([
        { seed: 1002, count: 2, fingerprint: thrown, command: 0, scenario: null },
        { seed: 1003, count: 1, fingerprint: "runs out of memory", sentence: "runs out of memory, 512 MiB" },
        { seed: 1004, count: 1, fingerprint: "ends its process with exit code 3" },
      ]);
      expect(stdout).toContain("✗ throws TypeError: order 12 of account 7 is undefined\n    seeds    2;");
      expect(stdout).toContain("no scenario and no report: the run does not end by itself");
    },
  );

  it("include a seed that hangs, and the next one", async () => {
    const { failures, ran } = await resultsOf("1001..1003", "--workers 1 --seed-timeout 10s");
    expect(ran).toMatchObject([{ done: 2 }]);
    expect(failures).toMatchObject([{ seed: 1001, fingerprint: "hangs" }, { seed: 1002 }]);
  });

  it("are complete when a signal stops the campaign: all seeds before the first unfinished one", async () => {
    const campaign = start("--seeds 1980..2100 --workers 1 --out stopped");
    await campaign.prints("seed 2000 runs");
    const { code, stdout } = await campaign.end("SIGHUP");
    expect(code).toBe(129);
    expect(stdout).toContain("interrupted after 20 of 120 seeds\n");
    const files = ["fuzz-1980-2100.json", "seed-1994.ndjson", "seed-1994.yaml"];
    expect(Object.keys(fuzzer.files("stopped"))).toEqual(files);
    expect(JSON.parse(fuzzer.files("stopped")["fuzz-1980-2100.json"] ?? "")).toMatchObject({
      ran: [{ done: 20 }],
      failures: [{ seed: 1994, count: 1, scenario: "seed-1994.yaml", report: "seed-1994.ndjson" }],
    });
  });
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

const GUIDE = readFileSync("docs/guide/fuzzing.md", "utf8");
const JOB = readFileSync("fixtures/examples/fuzz/kubernetes-job.yaml", "utf8");
const WORKFLOW = readFileSync("fixtures/examples/fuzz/github-actions.yml", "utf8");

const exec = `exec '${process.execPath}' '${fuzzer.entry}'`;
fuzzer.write("bin/clobsim", `#!/bin/sh\n${exec} "$@"\n`);
fuzzer.write("bin/npx", `#!/bin/sh\nexec "$@"\n`);
for (const name of ["clobsim", "npx"]) chmodSync(fuzzer.path("bin", name), 0o755);

interface ShellEnd {
  readonly code: number;
  readonly stdout: string;
}

/** Runs shell commands with clobsim in the PATH. */
const shell = (lines: string, environment: Readonly<Record<string, string>> = {}): Promise<ShellEnd> =>
  new Promise((resolve) => {
    const PATH = `${fuzzer.path("bin")}:${process.env.PATH}`;
    const options = { cwd: fuzzer.folder, env: { ...process.env, ...environment, PATH } };
    execFile("sh", ["-c", lines], options, (error, stdout) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout }),
    );
  });

/** Replaces the seeds of commands by 0 to 99. */
const withFewSeeds = (lines: string): string => lines.replace(/--seeds \S+/, "--seeds 0..100");

/** Replaces the number of shards by 2, because each is a process: `/40 ` becomes `/2 `. */
const SHARDS = [1, 2];
const withFewShards = (line: string, shards: number): string => {
  expect(line).toContain(`/${shards} `);
  return line.replace(`/${shards} `, `/${SHARDS.length} `);
};

/** Results of one run of all seeds. */
let unsharded: unknown;
beforeAll(async () => {
  await run("--seeds 0..100 --out whole");
  unsharded = JSON.parse(fuzzer.files("whole")["fuzz-0-100.json"] ?? "");
});

/** Parses results without their paths. */
const withoutPaths = (text: string): unknown =>
  JSON.parse(text, (key, value: unknown) => (key === "scenario" ? expect.any(String) : value));

it("the recipe of the guide with xargs runs shards as processes whose merged results are those of one run", async () => {
  const recipe = /```sh\n(seq .*?)```/s.exec(GUIDE)?.[1] ?? "";
  const few = withFewShards(withFewSeeds(recipe), 8).replace("seq 1 8 ", `seq 1 ${SHARDS.length} `);
  const { code, stdout } = await shell(few);
  expect(code).toBe(0);
  expect(stdout).toMatch(/clobsim fuzz --seeds 5\.\.6 --commands 300\n.*\n\n2 failures in 9 seeds\n$/);
  expect(unsharded).toEqual(withoutPaths(fuzzer.read("fuzz.json")));
});

/** Fields of a batch/v1 Job in Kubernetes 1.29 to 1.33. */
const JOB_FIELDS = `apiVersion kind metadata name spec completions parallelism completionMode backoffLimitPerIndex
  activeDeadlineSeconds ttlSecondsAfterFinished podFailurePolicy rules action onPodConditions type status onExitCodes
  containerName operator values template restartPolicy terminationGracePeriodSeconds containers image command args
  resources requests cpu memory limits volumeMounts mountPath volumes persistentVolumeClaim claimName`;

interface Container {
  readonly name: string;
  readonly args: readonly string[];
  readonly volumeMounts: readonly { readonly name: string }[];
}

describe("the Kubernetes Job", () => {
  const job = parse(JOB);
  const { completions, template } = job.spec;
  const [container] = template.spec.containers as [Container];

  it("has only fields of a batch/v1 Job", () => {
    const fields = new Set<string>();
    JSON.stringify(job, (field, value: unknown) => {
      if (/^[a-z]/.test(field)) fields.add(field);
      return value;
    });
    expect([...fields].sort()).toEqual(JOB_FIELDS.split(/\s+/).sort());
  });

  it("is indexed, because it has a limit for each index, and its pods are never restarted, because it has failure rules", () => {
    const exits = (action: string, exitCode: number): object => ({
      action,
      onExitCodes: { containerName: container.name, operator: "In", values: [exitCode] },
    });
    const disrupted = [{ type: "DisruptionTarget", status: "True" }];
    const rules = [
      { action: "Ignore", onPodConditions: disrupted },
      exits("FailIndex", 1),
      exits("FailJob", 2),
    ];
    expect(job).toMatchObject({
      ...{ apiVersion: "batch/v1", kind: "Job" },
      spec: { completionMode: "Indexed", podFailurePolicy: { rules } },
    });
    const volumes = container.volumeMounts.map(({ name }) => ({ name }));
    expect(template.spec).toMatchObject({ restartPolicy: "Never", containers: [container], volumes });
  });

  it("runs one shard per index, whose merged results are those of one run", async () => {
    const line = withFewShards(withFewSeeds(container.args[0] ?? ""), completions).replace(
      "/failures",
      "pods",
    );
    const codes: number[] = [];
    for (const shard of SHARDS) {
      const { code } = await shell(line, { JOB_COMPLETION_INDEX: String(shard - 1) });
      codes.push(code);
    }
    expect(codes).toEqual(SHARDS.map(() => 1));
    await run("merge pods --out pods/fuzz.json");
    expect(JSON.parse(fuzzer.read("pods/fuzz.json"))).toEqual(unsharded);
  });
});

interface WorkflowJob {
  readonly strategy?: { readonly matrix: { readonly shard: readonly number[] } };
  readonly steps: readonly { readonly run?: string }[];
}

describe("the GitHub workflow", () => {
  const { jobs } = parse(WORKFLOW) as { readonly jobs: Readonly<Record<string, WorkflowJob>> };
  const linesOf = (job: string): string[] =>
    (jobs[job]?.steps ?? []).flatMap(({ run }) => (run?.includes("clobsim") ? [run] : []));

  it("runs each shard once, and the merged results are those of one run", async () => {
    const shards = jobs.shard?.strategy?.matrix.shard ?? [];
    const [line = "", ...others] = linesOf("shard");
    expect(others).toEqual([]);
    expect(shards).toEqual(shards.map((_, index) => index + 1));
    const runs: ShellEnd[] = [];
    for (const shard of SHARDS) {
      const own = withFewShards(withFewSeeds(line), shards.length)
        .replace(/\$\{\{ matrix\.shard \}\}/, String(shard))
        .replace("--out failures", `--out workflow/failures/failures-${shard}`);
      runs.push(await shell(own));
    }
    expect(runs.map(({ code }) => code)).toEqual(SHARDS.map(() => 1));
    const merged = await shell(`cd workflow && ${linesOf("merge").join(" && ")}`);
    expect(merged.code).toBe(0);
    expect(unsharded).toEqual(withoutPaths(fuzzer.read("workflow/fuzz.json")));
  });
});

/** Folder of the program as that of a page. */
const shown = { path: fuzzer.folder, read: (name: string) => fuzzer.read(name) };
const page: Shell = new Shell(shown, {
  write: (name = "", text = "") => void fuzzer.write(name, `${text}\n`),
  /** Writes the results of all seeds with a change, and shows them. */
  edit: async (from = "", to = "") => {
    const text = fuzzer.read("unsharded/fuzz-0-200.json");
    expect(text).toMatch(new RegExp(from));
    fuzzer.write("edited.json", text.replace(new RegExp(from), to));
    return (await page.run("fuzz show edited.json")).join("\n");
  },
  /** Prints results with only the names of files. */
  "without-folders": (name = "") =>
    fuzzer
      .read(name)
      .replace(/"(scenario|report)": "(.*)"/g, (_, key, path) => `"${key}": "${basename(path)}"`),
});

it("results of seeds are merged and shown as their page shows", async () => {
  const codesOf = (...lines: readonly string[]) =>
    Promise.all(lines.map(async (line) => (await run(line)).code));
  const shards = [1, 2, 3];
  const lines = shards.map((index) => `--seeds 0..200 --shard ${index}/3 --out own/${index}`);
  expect(await codesOf(...lines, "--seeds 0..200 --out unsharded")).toEqual([1, 1, 1, 1]);
  for (const index of shards)
    cpSync(fuzzer.path("own", `${index}`), fuzzer.path("shared"), { recursive: true });
  await codesOf("--seeds 300..310 --commands 20 --out other", "--seeds 0..5 --shard 2/2 --out clean");
  fuzzer.write("empty/notes.txt", "no results\n");
  page.names.set("VERSION", VERSION);
  await page.expectPage(join(import.meta.dirname, "results.txt"));
});
