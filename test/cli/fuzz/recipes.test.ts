import { chmodSync, readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { Ended } from "../run/launcher.ts";
import { JOB_SCHEMA } from "./job-schema.ts";
import { PlantedFuzzer } from "./planted.ts";

const GUIDE = readFileSync("docs/guide/fuzzing.md", "utf8");
const JOB = readFileSync("fixtures/examples/fuzz/kubernetes-job.yaml", "utf8");
const WORKFLOW = readFileSync("fixtures/examples/fuzz/github-actions.yml", "utf8");

let fuzzer: PlantedFuzzer;

beforeAll(async () => {
  fuzzer = await PlantedFuzzer.bundled();
  const exec = `exec '${process.execPath}' '${fuzzer.launcher.program}'`;
  fuzzer.launcher.write("bin/clobsim", `#!/bin/sh\n${exec} "$@"\n`);
  fuzzer.launcher.write("bin/npx", `#!/bin/sh\nexec "$@"\n`);
  for (const name of ["clobsim", "npx"]) chmodSync(fuzzer.path("bin", name), 0o755);
});

afterAll(() => fuzzer.dispose());

/** Runs lines of a shell where clobsim is in the PATH. */
const shell = (lines: string, environment: Readonly<Record<string, string>> = {}): Promise<Ended> =>
  fuzzer.launcher.start(["sh", "-c", lines], {
    ...environment,
    PATH: `${fuzzer.path("bin")}:${process.env.PATH}`,
  }).ended;

/** The same commands with the seeds from 0 to 99 alone: which those are does not matter here. */
const small = (lines: string): string => lines.replace(/--seeds \S+/, "--seeds 0..100");

/** Fewer shards, for each is a process: `/40 ` becomes `/4 `. */
const SHARDS = [1, 2, 3, 4];
const fewer = (line: string, shards: number): string => {
  expect(line).toContain(`/${shards} `);
  return line.replace(`/${shards} `, `/${SHARDS.length} `);
};

/** What one run of these seeds has written. */
async function unsharded(): Promise<unknown> {
  await fuzzer.run("--seeds 0..100 --out unsharded");
  return JSON.parse(fuzzer.files("unsharded")["fuzz-0-100.json"] ?? "");
}

/** Results with their paths left out. */
const withoutPaths = (text: string): unknown =>
  JSON.parse(text, (key, value: unknown) => (key === "scenario" ? expect.any(String) : value));

describe("the recipe of the guide with xargs", () => {
  it("runs shards as processes, and what is merged is what one run finds", async () => {
    const recipe = /```sh\n(seq .*?)```/s.exec(GUIDE)?.[1] ?? "";
    const { code, stdout } = await shell(small(recipe));
    expect(code).toBe(0);
    expect(stdout).toMatch(/clobsim fuzz --seeds 5\.\.6 --commands 300\n.*\n\n2 failures in 9 seeds\n$/);
    expect(await unsharded()).toEqual(withoutPaths(fuzzer.launcher.read("fuzz.json")));
  });
});

interface Job {
  readonly spec: {
    readonly completions: number;
    readonly template: {
      readonly spec: {
        readonly containers: readonly {
          readonly name: string;
          readonly command: readonly string[];
          readonly args: readonly string[];
          readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
        }[];
        readonly volumes: readonly { readonly name: string }[];
      };
    };
    readonly podFailurePolicy: {
      readonly rules: readonly { readonly onExitCodes?: { readonly containerName: string } }[];
    };
  };
}

describe("the Kubernetes Job", () => {
  const validate = new Ajv2020({ strict: false, allErrors: true }).compile(JOB_SCHEMA);
  const job = parse(JOB) as Job;
  const {
    completions,
    podFailurePolicy: { rules },
    template: {
      spec: { containers, volumes },
    },
  } = job.spec;

  it("is a batch/v1 Job to the schema", () => {
    expect(validate(job) || validate.errors).toBe(true);
  });

  it.each<[string, (text: string) => string]>([
    ["a misspelt field", (text) => text.replace("backoffLimitPerIndex", "backOffLimitPerIndex")],
    ["a limit for each index without indexes", (text) => text.replace("completionMode: Indexed", "")],
    ["no limit for each index", (text) => text.replace(/ +backoffLimitPerIndex.*\n/, "")],
    [
      "a pod that restarts by itself",
      (text) => text.replace("restartPolicy: Never", "restartPolicy: OnFailure"),
    ],
    ["a rule about exit code 0", (text) => text.replace("values: [1]", "values: [0]")],
    ["an unknown action", (text) => text.replace("action: FailIndex", "action: FailPod")],
    ["a truth where a text belongs", (text) => text.replace('status: "True"', "status: True")],
    ["no image", (text) => text.replace(/ +image: .*\n/, "")],
  ])("would not be with %s", (_what, edit) => {
    const edited = edit(JOB);
    expect(edited).not.toBe(JOB);
    expect(validate(parse(edited))).toBe(false);
  });

  it("names only containers and volumes that it has", () => {
    const names = containers.map(({ name }) => name);
    expect(rules.flatMap(({ onExitCodes }) => onExitCodes?.containerName ?? [])).toEqual([
      ...names,
      ...names,
    ]);
    const mounted = containers.flatMap(({ volumeMounts }) => volumeMounts.map(({ name }) => name));
    expect(mounted).toEqual(volumes.map(({ name }) => name));
  });

  it("runs one shard for each index, and all of them are what one run finds", async () => {
    const [container] = containers;
    const [shellName, flag] = container?.command ?? [];
    expect([shellName, flag]).toEqual(["sh", "-c"]);
    const line = fewer(small(container?.args[0] ?? ""), completions).replace("/failures", "pods");
    const codes: (number | null)[] = [];
    for (const shard of SHARDS) {
      const { code } = await shell(line, { JOB_COMPLETION_INDEX: String(shard - 1) });
      codes.push(code);
    }
    expect(codes).toEqual(SHARDS.map(() => 1));
    await fuzzer.run("merge pods --out pods/fuzz.json");
    expect(JSON.parse(fuzzer.launcher.read("pods/fuzz.json"))).toEqual(await unsharded());
  });
});

interface Workflow {
  readonly jobs: Readonly<
    Record<
      string,
      {
        readonly strategy?: { readonly matrix: { readonly shard: readonly number[] } };
        readonly steps: readonly { readonly run?: string }[];
      }
    >
  >;
}

describe("the GitHub workflow", () => {
  const { jobs } = parse(WORKFLOW) as Workflow;
  const linesOf = (job: string): string[] =>
    (jobs[job]?.steps ?? []).flatMap(({ run }) => (run?.includes("clobsim") ? [run] : []));

  it("runs each shard once, and what is merged is what one run finds", async () => {
    const shards = jobs.shard?.strategy?.matrix.shard ?? [];
    const [line = "", ...others] = linesOf("shard");
    expect(others).toEqual([]);
    expect(shards).toEqual(shards.map((_, index) => index + 1));
    const runs: Ended[] = [];
    for (const shard of SHARDS) {
      const own = fewer(small(line), shards.length)
        .replace(/\$\{\{ matrix\.shard \}\}/, String(shard))
        .replace("--out failures", `--out workflow/failures/failures-${shard}`);
      runs.push(await shell(own));
    }
    expect(runs.map(({ code }) => code)).toEqual(SHARDS.map(() => 1));
    const merged = await shell(`cd workflow && ${linesOf("merge").join(" && ")}`);
    expect(merged.code).toBe(0);
    expect(await unsharded()).toEqual(withoutPaths(fuzzer.launcher.read("workflow/fuzz.json")));
  });
});
