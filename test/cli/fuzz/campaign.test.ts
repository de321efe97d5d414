import { execFile } from "node:child_process";
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { VERSION } from "../../../src/version.ts";
import { type Ended, type Launched, Program } from "../../support/program.ts";
import { Shell } from "../shell.ts";
import { runLine } from "../tools.ts";

/** The program with seeds that fail in known ways. */
const RUNNER = readFileSync("test/fuzz/campaign/planted-runner.ts", "utf8");
const fuzzer = await Program.bundled(new Map([["src/fuzz/in-process.ts", RUNNER]]));
afterAll(() => fuzzer.dispose());

/** Starts `clobsim fuzz` with a command line. */
const start = (line: string): Launched => fuzzer.launch(["fuzz", ...line.split(" ")]);
const run = (line: string): Promise<Ended> => start(line).ended;

it("a temporary folder that cannot be used ends a campaign with 2, and is no failure of a seed", async () => {
  const nowhere = fuzzer.path("nowhere");
  const environment = { TMPDIR: nowhere, TEMP: nowhere, TMP: nowhere };
  const args = ["fuzz", "--via", "http", "--seeds", "0..2", "--workers", "1", "--out", "none"];
  const { code, stdout, stderr } = await fuzzer.run(args, { environment });
  expect([code, stdout, stderr]).toEqual([
    2,
    "",
    expect.stringMatching(/^clobsim: ENOENT: .*mkdtemp .*nowhere.*\n$/),
  ]);
  expect(fuzzer.files("none")).toEqual({});
});

/** Folder of the program as that of a page. */
const shown = { path: fuzzer.folder, read: (name: string) => fuzzer.read(name) };
const page: Shell = new Shell(
  shown,
  {
    write: (name = "", text = "") => void fuzzer.write(name, `${text}\n`),
    exists: (name = "") => (existsSync(fuzzer.path(name)) ? "yes" : "no"),
    ls: (name = "") => Object.keys(fuzzer.files(name)).join(" "),
    "same-files": (one = "", other = "") =>
      isDeepStrictEqual(fuzzer.files(one), fuzzer.files(other)) ? "yes" : "no",
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
  },
  async (args, folder, environment = {}) => {
    // Only campaigns need the bundled program, which takes longer to start.
    if (/^(?:merge|show)$/.test(args[1] ?? "")) return runLine(args, folder, environment);
    const { code, stdout, stderr } = await fuzzer.run(args, { environment });
    const progress = /^ *[\d,]+\/[\d,]+ seeds .*\n/gm;
    return { code: code ?? -1, stdout, stderr: stderr.replace(progress, "") };
  },
);

it("campaigns print, and results of seeds are merged and shown, as their page shows", async () => {
  fuzzer.write("empty/notes.txt", "no results\n");
  page.names.set("VERSION", VERSION);
  await page.expectPage(join(import.meta.dirname, "results.txt"));
});

it("the results are complete when a signal stops the campaign: all seeds before the first unfinished one", async () => {
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
