import { execFileSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startApi } from "../../support/http.ts";
import { Program } from "../../support/program.ts";
import { rowsOf } from "../../support/table.ts";
import { type CommandResult, refused, runLine, says } from "../tools.ts";

let clobsim: Program;
const run = (...args: readonly string[]): Promise<CommandResult> => runLine(["run", ...args], clobsim.folder);

beforeAll(async () => {
  clobsim = await Program.built(fileURLToPath(new URL("../../../bin/clobsim.js", import.meta.url)), []);
  clobsim.write("good/a.yaml", "scenario: a passes\nsteps: [{ advance: 1s }]\n");
  clobsim.write("good/b.yaml", "scenario: b passes\nsteps: [{ advance: 2s }]\n");
  clobsim.write("good/c.yaml", "scenario: c needs HTTP\nsteps: [{ request: GET /clob/time }]\n");
  clobsim.write("good/_part.yaml", "- advance: 1s\n");
  clobsim.write("good/notes.txt", "no scenario\n");
  clobsim.write("bad/fails.yaml", FAILS);
  clobsim.write("bad/fails-too.yaml", FAILS.replace("it fails", "it fails, too"));
  clobsim.write("wrong/wrong.yaml", "scenario: wrong\nstepps: []\nsteps:\n  - advanse: 1s\n");
  clobsim.write("golden.yaml", "scenario: golden\nsteps: [{ expect: { golden: notes.txt } }]\n");
  clobsim.write("wallets.yaml", `accounts: { alice: { privateKey: "${KEY}" } }\n`);
});

afterAll(() => clobsim.dispose());

const KEY = "0xnot-a-key-but-secret-all-the-same";
const FAILS = `scenario: it fails
accounts: { alice: { USDC: 10 } }
steps:
  - alice: BUY 1 YES @ 0.5
  - expect: { book: { YES: { bids: [0.5 x 2] } } }
  - advance: 1s
`;

describe("the exit code of clobsim run", () => {
  it("is 0 when all passed", async () => {
    const stdout = says("3 scenarios in 3 files: 3 passed\n");
    expect(await run("good")).toEqual({ code: 0, stdout, stderr: "" });
  });

  it("is 0 when some are skipped, with the reason", async () => {
    const stdout = says(/skipped: needs HTTP: run it with --via http.*2 passed.*1 skipped/s);
    expect(await run("good", "--via", "process")).toMatchObject({ code: 0, stdout });
  });

  it("is 1 when all are skipped", async () => {
    const stderr = "clobsim: nothing was run, every scenario was skipped\n";
    expect(await run("good/c.yaml", "--via", "process")).toMatchObject({ code: 1, stderr });
  });

  it("is 1 when one failed; all are run", async () => {
    const ended = await clobsim.run(["run", "bad", "good/a.yaml"]);
    expect(ended).toMatchObject({ code: 1, stdout: says("bad/fails.yaml:5:23\n"), stderr: "" });
    for (const count of ["1 passed", "2 failed"]) expect(ended.stdout).toContain(count);
  });

  it("is 2 when a file is invalid: every problem is on stderr with its place, and nothing is run", async () => {
    const { code, stdout, stderr } = await run("good", "wrong", "bad");
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    const lines = stderr.trimEnd().split("\n");
    expect(lines[0]).toMatch(/^wrong\/wrong\.yaml:2:1: .*stepps.*\(did you mean steps\?\)$/);
    expect(lines[1]).toMatch(/^wrong\/wrong\.yaml:4:5: .*advanse.*\(did you mean advance\?\)$/);
    expect(lines.slice(2)).toEqual(["clobsim: 2 problems in 1 file, nothing was run"]);
  });

  const ORIGIN = "a URL such as http://127.0.0.1:7070, or http://127.0.0.1:7070/3 of a pool";
  it.each(
    rowsOf(`
    .                                 | run expects files, folders or globs, found none (see clobsim run --help)
    nowhere                           | no scenario file at nowhere: expected a file, a folder with .yaml files, or a glob; names that begin with _ or . are left out
    no*/x.yaml                        | no scenario file at no*/x.yaml: expected a file, a folder with .yaml files, or a glob; names that begin with _ or . are left out
    good --via target                 | --via expects process or http, found "target"
    good --target example             | --target expects ${ORIGIN}, found "example"
    good --target http://h/a          | --target expects ${ORIGIN}, found "http://h/a"
    good --repeat 0                   | --repeat expects a whole number from 1 to 1000000, found "0"
    good --step one                   | --step expects a whole number from 1 to 1000000, found "one"
    good --shard 3/2                  | --shard expects i/n with i from 1 to n, such as 2/4, found "3/2"
    good --shard 0/2                  | --shard expects i/n with i from 1 to n, such as 2/4, found "0/2"
    good --grep (                     | --grep expects a regular expression, found "(": Unterminated group
    good --grep nothing_like_it       | none of the 3 scenarios is chosen by --grep
    good --grep nothing_like_it --shard 1/1 | none of the 3 scenarios is chosen by --grep and --shard
    good/a.yaml --shard 2/2           | the one scenario is not chosen by --shard
    good --wallets wallets.yaml       | --wallets goes with --target, found it alone
    good --target http://127.0.0.1:1  | --target goes with --wallets, a file with the wallets, markets and funds there
    good --via htp                    | --via expects process or http, found "htp", did you mean http?
    good --via http --target http://127.0.0.1:1             | --target and --via contradict each other: give one of them
    good/a.yaml --target http://127.0.0.1:1 --wallets good/a.yaml | --wallets good/a.yaml is the only file there: expected a scenario besides it
    good --target http://127.0.0.1:1 --wallets none.yaml    | --wallets none.yaml: there is no such file
    good --target http://127.0.0.1:1 --wallets wallets.yaml | --wallets wallets.yaml: accounts.alice.privateKey: expected 0x and 64 hexadecimal digits in quotes, or $NAME of a variable that holds them
    good --seed                       | --seed expects
    good --seed 7 --update            | --seed and --update contradict each other
    good --repaet 2                   | unknown option --repaet, did you mean --repeat?
    `),
  )("is 2 with one sentence for %j", async (line, sentence) => {
    const { code, stdout, stderr } = await run(...line.split(" ").filter((word) => word !== ""));
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr.startsWith(`clobsim: ${sentence}`)).toBe(true);
    expect(stderr.trimEnd().split("\n").length).toBe(1);
    expect(stderr).not.toContain(KEY);
  });
});

describe("clobsim run --target", () => {
  const ALICE_KEY = `0x${"3f".repeat(32)}`;
  const wallets = (market: string, key: string): string =>
    `markets: { market: ${market} }\naccounts: { alice: { privateKey: ${key} } }\n`;
  beforeAll(() =>
    clobsim.write("there.yaml", "scenario: there\naccounts: { alice: {} }\nsteps: [{ alice: cancel all }]\n"),
  );

  it("reads keys from the environment, and exits with 2 if the server does not answer", async () => {
    clobsim.write("named.yaml", wallets("any", "$ALICE_KEY"));
    const args = ["there.yaml", "--target", "http://127.0.0.1:1", "--wallets", "named.yaml"];
    const unset = "accounts.alice.privateKey: expected the variable ALICE_KEY to be set";
    expect(await run(...args)).toEqual(refused(`--wallets named.yaml: ${unset}`));
    const ended = await runLine(["run", ...args], clobsim.folder, { ALICE_KEY });
    const noReply = /^clobsim: --target: no reply from http:\/\/127\.0\.0\.1:1: .*ECONNREFUSED.*\n$/;
    expect(ended).toEqual(refused(says(noReply)));
    expect(ended.stderr).not.toContain(ALICE_KEY);
  });

  it("exits with 2 if the wallets file names an unknown market, and runs nothing", async () => {
    const api = await startApi();
    const url = `http://127.0.0.1:${api.port}`;
    await api.createMarket({ slug: "will-it-rain" });
    clobsim.write("slug.yaml", wallets("will-it-rian", `"${ALICE_KEY}"`));
    const ended = await run("there.yaml", "--target", url, "--wallets", "slug.yaml");
    await api.close();
    const unknown = `there is no market "will-it-rian" at ${url}, did you mean will-it-rain?`;
    expect(ended).toEqual(refused(`--wallets slug.yaml: markets.market: ${unknown}`));
  });
});

describe("clobsim run", () => {
  it("--repeat prints that the runs agree", async () => {
    const expected = "each passed scenario was run 3 times with equal results\n";
    expect((await run("good/a.yaml", "--repeat", "3")).stdout).toContain(expected);
    expect((await run("good/a.yaml")).stdout).not.toContain("was run");
  });

  it("--bail stops after the first failure", async () => {
    const { code, stdout } = await run("bad", "good", "--bail");
    expect([code, stdout]).toEqual([1, says("1 scenario in 5 files: 1 failed, 4 not run\n")]);
    expect(stdout).not.toContain("a passes");
  });

  it("--step stops after that step, and prints the transcript on stderr", async () => {
    const { code, stdout, stderr } = await run("bad/fails.yaml", "--step", "1", "--reporter", "json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ passed: 1, scenarios: [{ steps: 1 }] });
    expect(stderr).toMatch(
      /^\n {2}1\. alice: BUY 1 YES @ 0\.5 → LIVE 0\/1\n {2}end\n {5}at 2026-01-01T00:00:00\.000Z\n {5}market YES bids 0\.5 x 1 \(1\); asks none\n/,
    );
  });

  it("--seed changes the state but no outcome", async () => {
    const runWith = async (seed: string) => {
      const { code, stdout } = await run("good/a.yaml", "--seed", seed, "--reporter", "json");
      const [scenario] = JSON.parse(stdout).scenarios as [{ seed: string; stateHash: string; steps: number }];
      return { code, ...scenario };
    };
    const [one, other] = [await runWith("1"), await runWith("other")];
    expect([one.code, other.code, one.seed, other.seed]).toEqual([0, 0, "1", "other"]);
    expect(one.stateHash).not.toBe(other.stateHash);
  });

  it("prints a command line that fails in the same way", async () => {
    const { stdout } = await run("bad/fails.yaml", "--reporter", "json");
    const [{ failure }] = JSON.parse(stdout).scenarios as [{ failure: { repeat: string } }];
    const [program, command, ...words] = failure.repeat.split(" ");
    expect([program, command, words[0]]).toEqual(["clobsim", "run", "bad/fails.yaml"]);
    const again = await run(...words, "--reporter", "json");
    expect(again.code).toBe(1);
    const [repeated] = JSON.parse(again.stdout).scenarios as [{ failure: unknown }];
    expect(repeated.failure).toEqual(failure);
  });

  it("prints a command line with the settings of the environment that are not defaults", async () => {
    const environment = { CLOBSIM_SEED: "7 of it", CLOBSIM_VIA: "http", CLOBSIM_REPEAT: "1" };
    const args = ["run", "bad/fails.yaml", "--via", "process"];
    const { stdout } = await runLine(args, clobsim.folder, { ...environment, CLOBSIM_BAIL: "yes" });
    expect(stdout).toMatch(/^repeat {2}clobsim run bad\/fails\.yaml --via process --seed '7 of it'$/m);
  });

  it("--report prints commands that a shell can run", async () => {
    const { stderr } = await run("bad/fails.yaml", "--report", "of today");
    expect(stderr).toContain("try clobsim replay or shrink 'of today/fails.ndjson'\n");
  });

  it("--update writes missing hashes, and the next run passes", async () => {
    clobsim.write("update/hash.yaml", 'scenario: h\r\nsteps:\r\n  - expect: { stateHash: "" } # here\r\n');
    expect((await run("update")).code).toBe(1);
    const { code, stdout } = await run("update", "--update");
    expect(code).toBe(0);
    expect(stdout).toContain("wrote update/hash.yaml\n");
    expect(clobsim.read("update/hash.yaml")).toMatch(
      /^scenario: h\r\nsteps:\r\n {2}- expect: \{ stateHash: "v2:[\da-f]{64}" \} # here\r\n$/,
    );
    expect((await run("update")).code).toBe(0);
  });
});

describe("a golden file", () => {
  it("that the run reads is a problem of the scenario that names it, and nothing is run", async () => {
    const flow = "at,account,op,ref,side,outcome,price,size,type\n";
    clobsim.write("mixed/flow.csv", flow);
    clobsim.write("mixed/one.yaml", "scenario: a\nsteps:\n  - expect: { golden: flow.csv }\n");
    clobsim.write("mixed/two.yaml", "scenario: b\nsteps:\n  - replay: flow.csv\n");
    const problem =
      "mixed/one.yaml:3:15: expected a golden file of its own, found mixed/flow.csv, which the run reads (name another)";
    const stderr = `${problem}\nclobsim: 1 problem in 1 file, nothing was run\n`;
    expect(await run("mixed", "--update")).toEqual({ code: 2, stdout: "", stderr });
    expect(clobsim.read("mixed/flow.csv")).toBe(flow);
  });
});

describe("the scenarios of a run", () => {
  const chosen = async (...args: string[]): Promise<string[]> => {
    const { stdout } = await run(...args, "--reporter", "json");
    return (JSON.parse(stdout).scenarios as { file: string }[]).map(({ file }) => file);
  };

  it("are those of folders, globs and files, without parts and other files", async () => {
    const named = ["good", "./good/a.yaml", clobsim.path("good/b.yaml"), "g*/b.yaml"];
    for (const paths of [["good"], ["*/?.yaml"], named])
      expect(await chosen(...paths)).toEqual(["good/a.yaml", "good/b.yaml", "good/c.yaml"]);
  });

  it("are below a folder, also through links, except hidden ones and those for include", async () => {
    const text = "scenario: found\nsteps: [{ advance: 1s }]\n";
    for (const name of [
      "A.YAML",
      "b.Yml",
      "deep/c.yaml",
      "_d.yaml",
      "_parts/e.yaml",
      ".f.yaml",
      ".git/g.yaml",
    ])
      clobsim.write(`tree/${name}`, text);
    symlinkSync("..", clobsim.path("tree/deep/up"));
    symlinkSync("deep", clobsim.path("tree/linked"));
    const found = ["tree/A.YAML", "tree/b.Yml", "tree/deep/c.yaml", "tree/linked/c.yaml"];
    expect(await chosen("tree")).toEqual(found);
    expect(await chosen("tree/_parts", "tree/.f.yaml")).toEqual(["tree/.f.yaml", "tree/_parts/e.yaml"]);
  });

  it("include links that are broken, as files that cannot be read", async () => {
    clobsim.write("links/a.yaml", "scenario: a\nsteps: [{ advance: 1s }]\n");
    symlinkSync("nowhere.yaml", clobsim.path("links/b.yaml"));
    symlinkSync("c.yaml", clobsim.path("links/c.yaml"));
    const { code, stderr } = await run("links");
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `links/b.yaml:1:1: there is no such file
links/c.yaml:1:1: the file cannot be read: ELOOP
clobsim: 2 problems in 2 files, nothing was run
`,
    });
  });

  it("--grep: match by name or file, in either case", async () => {
    expect(await chosen("good", "--grep", "NEEDS|/a\\.")).toEqual(["good/a.yaml", "good/c.yaml"]);
  });

  it("--shard: are divided among the shards", async () => {
    for (let number = 0; number < 7; number += 1) {
      clobsim.write(`many/${number}.yaml`, `scenario: number ${number}\nsteps: [{ advance: 1s }]\n`);
    }
    const whole = await chosen("many");
    expect(whole.length).toBe(7);
    for (const count of [1, 3, 7]) {
      const parts: string[][] = [];
      for (let index = 1; index <= count; index += 1) {
        parts.push(await chosen("many", "--shard", `${index}/${count}`));
      }
      expect(parts.flat().sort()).toEqual(whole);
      const sizes = parts.map((part) => part.length);
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
    }
  });
});

describe("the reporters of a run", () => {
  it("write to stdout and to several files", async () => {
    const names = ["json", "junit", "tap", "github"];
    const files = names.flatMap((name) => ["--reporter", `${name}=out.${name}`]);
    const { code, stdout } = await run("bad/fails.yaml", "good/a.yaml", "--reporter", "spec", ...files);
    expect(code).toBe(1);
    expect(stdout).toContain("✗ it fails");
    expect(JSON.parse(clobsim.read("out.json"))).toMatchObject({ passed: 1, failed: 1 });
    expect(clobsim.read("out.junit")).toMatch(/^<\?xml .*<testsuites .*failures="1"/s);
    expect(clobsim.read("out.tap")).toMatch(/^TAP version 14\n.*^not ok 1/ms);
    expect(clobsim.read("out.github")).toContain("::error file=bad/fails.yaml,line=5,");
  });

  it.each([
    ["the folder above, the checkout of GitHub", ".", "bad/fails.yaml"],
    ["a folder that is not above", "good", "fails.yaml"],
  ])("annotate for GitHub the file as seen from %s", async (_, workspace, file) => {
    const args = ["run", "fails.yaml", "--reporter", "github"];
    const { stdout } = await runLine(args, join(clobsim.folder, "bad"), {
      GITHUB_WORKSPACE: join(clobsim.folder, workspace),
    });
    expect(stdout).toContain(`::error file=${file},line=5,`);
  });

  it("report invalid files: the exit code is 2, and nothing is run", async () => {
    const names = ["spec", "json", "junit", "tap", "github"];
    const files = names.flatMap((name) => ["--reporter", `${name}=wrong.${name}`]);
    const { code, stdout } = await run("good", "wrong", "--reporter", "spec", ...files);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    for (const name of names) expect(clobsim.read(`wrong.${name}`), name).toContain("advanse");
    const json = { passed: 0, failed: 1, problems: [{}, { place: { line: 4, column: 5 } }] };
    expect(JSON.parse(clobsim.read("wrong.json"))).toMatchObject(json);
    const tap = await run("wrong", "--reporter", "tap");
    expect([tap.code, tap.stdout]).toEqual([2, clobsim.read("wrong.tap")]);
  });

  it.each(
    rowsOf(`
    jnit                            | --reporter: .*did you mean junit\\?
    spec --reporter tap             | two reporters write to stdout: 
    tap=same --reporter json=same   | two reporters write to same: 
    tap=same --reporter json=./same | two reporters write to \\./same: 
    tap=good/a.yaml/x               | --reporter expects a file that can be written, found good/a\\.yaml/x \\(ENOTDIR\\)
    tap=./good/a.yaml               | --reporter expects a file to write, found \\./good/a\\.yaml, which the run reads\\n
    tap=notes.txt golden.yaml       | --reporter expects a file to write, found notes\\.txt, which the run reads\\n
    `),
  )("are refused with a sentence: --reporter %s", async (args = "", sentence = "") => {
    const ended = await run("good/a.yaml", "--reporter", ...args.split(" "));
    expect(ended).toEqual(refused(says(new RegExp(`^clobsim: ${sentence}`))));
  });

  it("make missing folders, and keep an earlier file until its replacement is complete", async () => {
    const kept = "reports/of/kept.json";
    const args = ["good/a.yaml", "--reporter", `json=${kept}`];
    expect((await run(...args)).code).toBe(0);
    const text = clobsim.read(kept);
    expect(JSON.parse(text)).toMatchObject({ passed: 1 });
    expect((await run(...args, "--reporter", "jnit")).code).toBe(2);
    expect(clobsim.read(kept)).toBe(text);

    clobsim.write("long.yaml", "scenario: long\nsteps: [{ generate: { orders: 10000000, accounts: 2 } }]\n");
    const { prints, end } = clobsim.launch(["run", "long.yaml", ...args, "--reporter", "spec"]);
    await prints("✓ a passes");
    await end("SIGINT");
    expect(clobsim.files("reports/of")).toEqual({ "kept.json": text });
  });

  it.skipIf(process.platform === "win32")("write to a pipe", async () => {
    execFileSync("mkfifo", [clobsim.path("pipe")]);
    const [text, { code }] = await Promise.all([
      readFile(clobsim.path("pipe"), "utf8"),
      clobsim.run(["run", "good/a.yaml", "--reporter", "tap=pipe"]),
    ]);
    expect(code).toBe(0);
    expect(text).toMatch(/^TAP version 14\n.*^ok 1/ms);
  });
});
