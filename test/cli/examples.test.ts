import { execFile } from "node:child_process";
import { chmodSync, cpSync, mkdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SUBCOMMANDS, type Subcommand } from "../../src/cli/commands.ts";
import type { RunningServer } from "../../src/compose.ts";
import { Program } from "../support/program.ts";
import { sendOrder, startSession } from "./refused-session.ts";
import { run, runLine, serve } from "./tools.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** A folder with all files that the examples of the help name. */
const program = await Program.built();
let server: RunningServer;
/** Replacements in the examples: ids, ports and limits of this session. */
const replacements = new Map<string | RegExp, string>();

const FAILING = `scenario: a bid is too small
accounts: { alice: { USDC: 100 }, bob: { YES: 10 } }
steps:
  - alice: BUY 10 YES @ 0.50 as bid
${"  - advance: 1s\n".repeat(12)}  - expect: { orders: { bid: LIVE 0/11 } }
`;

/** Runs a session with the order of the examples, a refused order, and more than 120 lines. */
async function runSession(url: string): Promise<void> {
  const { alice, bid, tokenId, close } = await startSession(url);
  await sendOrder(alice, { tokenId, side: "BUY", price: 0.0155, size: 10 });
  for (let count = 0; count < 120; count += 1) await alice.control.setClock({ advance: "1s" });
  replacements.set("4acfce73-8b67-80ed-9cc2-000000000001", bid);
  replacements.set("8194", String(Number.parseInt(bid.slice(-12), 16)));
  close();
}

beforeAll(async () => {
  mkdirSync(program.path(".config", "fish", "completions"), { recursive: true });
  program.write("bin/clobsim", `#!/bin/sh\nexec "${process.execPath}" "${program.entry}" "$@"\n`);
  chmodSync(program.path("bin", "clobsim"), 0o755);
  cpSync(join(ROOT, "scenarios", "time-in-force"), program.path("scenarios"), { recursive: true });
  for (const name of ["failing.yaml", "long.yaml"]) program.write(name, FAILING);
  cpSync(join(ROOT, "fixtures", "worlds", "tiny.json"), program.path("world.json"));
  const persistent = await serve({ data: program.path(".clobsim") });
  await runSession(persistent.url);
  await persistent.close();
  await run("report", [program.path(".clobsim")], { out: program.path("report.ndjson") });
  cpSync(program.path("report.ndjson"), program.path("bug.ndjson"));
  await run("run", [program.path("failing.yaml")], { report: program.path("failed") });
  const { stdout } = await run("journal", [program.path(".clobsim")]);
  const refused = /^\s*(\d+)\s.*refused/m.exec(stdout)?.[1] ?? "no refused line";
  replacements.set("--refused 12", `--refused ${refused}`);
  server = await serve({});
  await runSession(server.url);
  replacements.set(/http:\/\/127\.0\.0\.1:(?:7070|8080)/, server.url);
  replacements.set(/^record --out/, `record --url ${server.url} --out`);
  replacements.set(/^shrink report.ndjson --out/, "shrink failed/failing.ndjson --out");
  replacements.set(/^fuzz$/, "fuzz --budget 200ms");
  replacements.set("--budget 10m", "--budget 200ms");
  replacements.set("--markets 5000", "--markets 100");
  replacements.set("--orders 100000", "--orders 1000");
  // Only a part of the suite is run.
  replacements.set("--min 95", "--min 1");
});

afterAll(async () => {
  await server.close();
  await program.dispose();
});

/** Exit codes other than 0. */
const EXIT_CODES: Readonly<Record<string, number>> = { repair: 2 };

const examples = Object.values<Subcommand>(SUBCOMMANDS).flatMap((command) =>
  command.examples.map(([line]) => line),
);

/** Runs a line in a shell with the program in its PATH. */
const inShell = (line: string): Promise<{ code: number; stderr: string }> =>
  new Promise((resolve) => {
    const path = `${program.path("bin")}${delimiter}${process.env.PATH}`;
    const env = { PATH: path, HOME: program.folder, SHELL: "/bin/bash" };
    execFile("sh", ["-c", line], { cwd: program.folder, env, maxBuffer: 1 << 28 }, (error, _stdout, stderr) =>
      resolve({ code: typeof error?.code === "number" ? error.code : error === null ? 0 : -1, stderr }),
    );
  });

/** Splits a line into words, which may be quoted. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain = ""]) => quoted ?? plain);

describe("the examples of the help", () => {
  it("exist for every command", () => {
    const bare = Object.entries<Subcommand>(SUBCOMMANDS).filter(
      ([, command]) => command.examples.length === 0,
    );
    expect(bare).toEqual([]);
  });

  it.each(examples)("run: clobsim %s", async (example) => {
    const line = [...replacements].reduce(
      (text, [pattern, replacement]) => text.replace(pattern, replacement),
      example,
    );
    if (line.startsWith("serve")) {
      // A small world opens faster than the default one.
      const world = /--(?:world|seed|from)\b/.test(line) ? [] : ["--world", "world.json"];
      const words = line.replace(/ --port 0/, "").split(" ");
      const args = [...words, ...world, "--port", "0", "--log-level", "silent"];
      const { prints, end } = program.launch(args);
      await prints("answers at http://127.0.0.1:");
      expect((await end("SIGTERM")).code).toBe(0);
      return;
    }
    // Commands that start threads or stream to stdout need a process, lines with > or * need a shell.
    const words = /^(?:fuzz|flow)\b|[>*]/.test(line) ? null : wordsOf(line);
    const { code, stderr } = await (words === null
      ? inShell(`clobsim ${line}`)
      : runLine(words, program.folder, { HOME: program.folder, SHELL: "/bin/bash" }));
    expect({ code, stderr }).toEqual({ code: EXIT_CODES[example] ?? 0, stderr });
  });
});
