import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { temporaryFolder } from "../support/folder.ts";
import { freePort } from "../support/local-server.ts";
import { Program } from "../support/program.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const run = promisify(execFile);

const folder = temporaryFolder();

describe("action.yml", () => {
  type Texts = Readonly<Record<string, string>>;
  interface Action {
    readonly inputs: Readonly<Record<string, { readonly default: string }>>;
    readonly outputs: Readonly<Record<string, { readonly value: string }>>;
    readonly runs: {
      readonly using: string;
      readonly steps: readonly { readonly id?: string; shell: string; env: Texts; run: string }[];
    };
  }
  const action = parse(readFileSync(join(ROOT, "action.yml"), "utf8")) as Action;
  const started: number[] = [];
  /** Images of containers in which a job runs have no curl. */
  const bin = join(folder, "bin");
  let tarball: string;

  beforeAll(async () => {
    const pack = ["pack", "--ignore-scripts", "--json", "--pack-destination", folder];
    const { stdout } = await run("npm", pack, { cwd: ROOT, maxBuffer: 64 * 1024 * 1024 });
    const [{ filename }] = JSON.parse(stdout) as [{ readonly filename: string }];
    tarball = join(folder, filename);
    mkdirSync(bin);
    writeFileSync(join(bin, "curl"), "#!/bin/sh\nexit 127\n", { mode: 0o755 });
  });
  afterAll(() => {
    for (const pid of started) process.kill(pid, "SIGKILL");
  });

  /** Runs the steps like a GitHub runner, and returns the outputs of the action. */
  async function runAction(inputs: Texts) {
    const temporary = mkdtempSync(join(folder, "runner-"));
    const context: Record<string, string> = { "runner.temp": temporary };
    for (const [name, input] of Object.entries(action.inputs))
      context[`inputs.${name}`] = inputs[name] ?? input.default;
    const filled = (text: string): string =>
      text.replace(/\$\{\{ (\S+) \}\}/g, (_, name: string) => context[name] as string);
    const allFilled = (texts: readonly (readonly [name: string, text: string])[]): Texts =>
      Object.fromEntries(texts.map(([name, text]) => [name, filled(text)]));
    let printed = "";
    for (const { id, env, run: script } of action.runs.steps) {
      const output = join(temporary, `output-${id}`);
      const bash = ["--noprofile", "--norc", "-eo", "pipefail", "-c", script];
      const child = spawn("bash", bash, {
        cwd: temporary,
        env: {
          ...process.env,
          PATH: `${bin}${delimiter}${process.env.PATH}`,
          ...allFilled(Object.entries(env)),
          GITHUB_OUTPUT: output,
        },
        stdio: ["ignore", "pipe", "inherit"],
      });
      child.stdout.on("data", (text: Buffer) => {
        printed += String(text);
      });
      const [code] = (await once(child, "exit")) as [number];
      if (code !== 0) return { code, printed };
      if (id === undefined) continue;
      for (const [, name = "", value = ""] of readFileSync(output, "utf8").matchAll(/^(\w+)=(.*)$/gm))
        context[`steps.${id}.outputs.${name}`] = value;
    }
    const values = Object.entries(action.outputs).map(([name, { value }]) => [name, value] as const);
    const { url = "", log = "", pid = "" } = allFilled(values);
    started.push(Number(pid));
    return { code: 0, printed, url, log, pid: Number(pid) };
  }

  it("is a composite action whose scripts have no expressions, because inputs come as variables", () => {
    expect(action.runs.using).toBe("composite");
    for (const { shell, run: script } of action.runs.steps) {
      expect(shell).toBe("bash");
      expect(script).not.toContain("${{");
    }
  });

  it("installs the package, starts it, and continues when it answers at its output `url`", async () => {
    const { url, log } = await runAction({ version: tarball, port: "0" });
    expect(await (await fetch(`${url}/healthz`)).json()).toMatchObject({ status: "ok" });
    expect(readFileSync(log ?? "", "utf8")).toContain("data        in memory");
  });

  it("accepts a port and flags, and outputs the URL of a pool", async () => {
    const port = String(await freePort());
    const args = "--pool 3  --clock frozen\n--seed 7";
    const { url, pid } = await runAction({ version: tarball, port, args });
    expect(url).toBe(`http://127.0.0.1:${port}`);
    const info = (await (await fetch(`${url}/3/sim`)).json()) as object;
    expect(info).toMatchObject({ seed: "7", clock: { mode: "frozen" } });
    expect(() => process.kill(pid ?? 0, 0)).not.toThrow();
  });

  it("fails with the message of the program if it cannot start", async () => {
    const { code, printed } = await runAction({ version: tarball, args: "--clock stopped" });
    expect(code).toBe(1);
    expect(printed).toContain("::error title=clobsim::clobsim: --clock expects real, frozen or a rate");
  });
});

describe("the Dockerfile", () => {
  const lines = readFileSync(join(ROOT, "Dockerfile"), "utf8").replaceAll("\\\n", " ").split("\n");
  const last = lines.slice(lines.findLastIndex((line) => line.startsWith("FROM ")));
  const the = (word: string): string =>
    last.find((line) => line.startsWith(`${word} `))?.slice(word.length + 1) ?? "";
  const pairs = the("ENV").split(" ");
  const environment: NodeJS.ProcessEnv = Object.fromEntries(pairs.map((pair) => pair.split("=")));

  it("pins its images, and runs as an unprivileged user", () => {
    const images = lines.filter((line) => line.startsWith("FROM ")).map((line) => line.split(" ")[1]);
    for (const image of images) expect(image).toMatch(/^node:\d+\.\d+\.\d+-\w/);
    expect(the("USER")).toBe("node");
  });

  it("copies all files of the program, which then serves and passes the health check", async () => {
    const image = join(folder, "image");
    for (const line of last.filter((each) => each.startsWith("COPY --from=build "))) {
      const words = line.split(" ").slice(2);
      const target = join(image, words.pop() as string);
      for (const source of words) {
        const from = join(ROOT, source.replace("/build/", ""));
        const isFolder = statSync(from).isDirectory();
        mkdirSync(target, { recursive: true });
        cpSync(from, isFolder ? target : join(target, basename(from)), { recursive: isFolder });
      }
    }
    expect([the("ENTRYPOINT"), the("CMD")]).toEqual(['["clobsim"]', '["serve"]']);
    expect(the("RUN")).toContain("ln -s /clobsim/bin/clobsim.js /usr/local/bin/clobsim");
    const program = await Program.at(join(image, "clobsim", "bin", "clobsim.js"));
    const port = String(await freePort());
    const env = { ...environment, CLOBSIM_PORT: port, CLOBSIM_WORLD: "tiny" };
    const { code, stderr } = await program.run(["serve"], { environment: env });
    expect([code, stderr]).toEqual([2, expect.stringContaining("CLOBSIM_SIM_TOKEN is expected too")]);
    const server = program.launch(["serve"], { environment: { ...env, CLOBSIM_SIM_TOKEN: "local" } });
    await server.prints(`answers at http://127.0.0.1:${port}`);
    const [, health = ""] = /CMD wget \S+ \S+ \S+ "(\S+)"/.exec(the("HEALTHCHECK")) ?? [];
    expect((await fetch(health.replace("$CLOBSIM_PORT", port))).status).toBe(200);
    expect((await server.end("SIGTERM")).code).toBe(0);
    await program.dispose();
  });
});
