import { execFile } from "node:child_process";
import { chmodSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { Ended } from "../../support/program.ts";
import { plantedFuzzer, startFuzz } from "./planted.ts";

const GUIDE = readFileSync("docs/guide/fuzzing.md", "utf8");
const JOB = readFileSync("fixtures/examples/fuzz/kubernetes-job.yaml", "utf8");
const WORKFLOW = readFileSync("fixtures/examples/fuzz/github-actions.yml", "utf8");

const fuzzer = await plantedFuzzer();
const run = (line: string): Promise<Ended> => startFuzz(fuzzer, line).ended;

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

/** Replaces the number of shards by 4, because each is a process: `/40 ` becomes `/4 `. */
const SHARDS = [1, 2, 3, 4];
const withFewShards = (line: string, shards: number): string => {
  expect(line).toContain(`/${shards} `);
  return line.replace(`/${shards} `, `/${SHARDS.length} `);
};

/** Returns the results of one run of all seeds. */
async function unsharded(): Promise<unknown> {
  await run("--seeds 0..100 --out unsharded");
  return JSON.parse(fuzzer.files("unsharded")["fuzz-0-100.json"] ?? "");
}

/** Parses results without their paths. */
const withoutPaths = (text: string): unknown =>
  JSON.parse(text, (key, value: unknown) => (key === "scenario" ? expect.any(String) : value));

it("the recipe of the guide with xargs runs shards as processes whose merged results are those of one run", async () => {
  const recipe = /```sh\n(seq .*?)```/s.exec(GUIDE)?.[1] ?? "";
  const { code, stdout } = await shell(withFewSeeds(recipe));
  expect(code).toBe(0);
  expect(stdout).toMatch(/clobsim fuzz --seeds 5\.\.6 --commands 300\n.*\n\n2 failures in 9 seeds\n$/);
  expect(await unsharded()).toEqual(withoutPaths(fuzzer.read("fuzz.json")));
});

/** Names of objects and containers (RFC 1123). */
const NAME = expect.stringMatching(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
const COUNT = expect.toSatisfy((count) => Number.isInteger(count) && count >= 1);
const QUANTITY = expect.stringMatching(/^\d+(\.\d+)?(m|[kMGT]i?)?$/);
const exits = (action: string, exitCode: number): object => ({
  action,
  onExitCodes: { containerName: NAME, operator: "In", values: [exitCode] },
});

/**
 * Fields of a batch/v1 Job in Kubernetes 1.29 to 1.33. A limit for each index requires an Indexed job whose pods are never
 * restarted, and each failure rule has one condition.
 */
const JOB_FIELDS = {
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name: NAME },
  spec: {
    ...{ completions: COUNT, parallelism: COUNT, completionMode: "Indexed", backoffLimitPerIndex: COUNT },
    ...{ activeDeadlineSeconds: COUNT, ttlSecondsAfterFinished: COUNT },
    podFailurePolicy: {
      rules: [
        { action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] },
        exits("FailIndex", 1),
        exits("FailJob", 2),
      ],
    },
    template: {
      spec: {
        restartPolicy: "Never",
        terminationGracePeriodSeconds: COUNT,
        containers: [
          {
            ...{ name: NAME, image: expect.stringMatching(/./) },
            ...{ command: ["sh", "-c"], args: [expect.any(String)] },
            resources: { requests: { cpu: QUANTITY, memory: QUANTITY }, limits: { memory: QUANTITY } },
            volumeMounts: [{ name: NAME, mountPath: expect.stringMatching(/^\//) }],
          },
        ],
        volumes: [{ name: NAME, persistentVolumeClaim: { claimName: NAME } }],
      },
    },
  },
};

interface Container {
  readonly name: string;
  readonly args: readonly string[];
  readonly volumeMounts: readonly { readonly name: string }[];
}

describe("the Kubernetes Job", () => {
  const job = parse(JOB);
  const { completions, podFailurePolicy, template } = job.spec;
  const containers: readonly Container[] = template.spec.containers;
  const volumes: readonly { readonly name: string }[] = template.spec.volumes;
  const rules: readonly { readonly onExitCodes?: Record<string, unknown> }[] = podFailurePolicy.rules;

  it("is a valid batch/v1 Job", () => {
    expect(job).toEqual(JOB_FIELDS);
  });

  it("names only its own containers and volumes", () => {
    const names = containers.map(({ name }) => name);
    expect(rules.flatMap(({ onExitCodes }) => onExitCodes?.containerName ?? [])).toEqual([
      ...names,
      ...names,
    ]);
    const mounted = containers.flatMap(({ volumeMounts }) => volumeMounts.map(({ name }) => name));
    expect(mounted).toEqual(volumes.map(({ name }) => name));
  });

  it("runs one shard per index, whose merged results are those of one run", async () => {
    const [container] = containers;
    const line = withFewShards(withFewSeeds(container?.args[0] ?? ""), completions).replace(
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
    expect(JSON.parse(fuzzer.read("pods/fuzz.json"))).toEqual(await unsharded());
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
    expect(await unsharded()).toEqual(withoutPaths(fuzzer.read("workflow/fuzz.json")));
  });
});
