import { execFileSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { TestFolder } from "../../support/folder.ts";
import { useApi } from "../../support/http.ts";
import { useProgram } from "../../support/program.ts";
import { Shell } from "../shell.ts";
import { runLine } from "../tools.ts";

const folder = new TestFolder();
const shell = new Shell(folder);
const api = useApi();

const FAILS = `scenario: it fails
accounts: { alice: { USDC: 10 } }
steps:
  - alice: BUY 1 YES @ 0.5
  - expect: { book: { YES: { bids: [0.5 x 2] } } }
  - advance: 1s
`;
const PASSES = "scenario: a passes\nsteps: [{ advance: 1s }]\n";
const SECRET = "0xnot-a-key-but-secret-all-the-same";
const KEY = `0x${"3f".repeat(32)}`;
const walletsOf = (market: string, key: string): string =>
  `markets: { market: ${market} }\naccounts: { alice: { privateKey: ${key} } }\n`;
const FILES: Readonly<Record<string, string>> = {
  "good/a.yaml": PASSES,
  "good/b.yaml": "scenario: b passes\nsteps: [{ advance: 2s }]\n",
  "good/c.yaml": "scenario: c needs HTTP\nsteps: [{ request: GET /clob/time }]\n",
  "good/_part.yaml": "- advance: 1s\n",
  "good/notes.txt": "no scenario\n",
  "bad/fails.yaml": FAILS,
  "bad/fails-too.yaml": FAILS.replace("it fails", "it fails, too"),
  "wrong/wrong.yaml": "scenario: wrong\nstepps: []\nsteps:\n  - advanse: 1s\n",
  "golden.yaml": "scenario: golden\nsteps: [{ expect: { golden: notes.txt } }]\n",
  "mixed/flow.csv": "at,account,op,ref,side,outcome,price,size,type\n",
  "mixed/one.yaml": "scenario: a\nsteps:\n  - expect: { golden: flow.csv }\n",
  "mixed/two.yaml": "scenario: b\nsteps:\n  - replay: flow.csv\n",
  "update/hash.yaml": 'scenario: h\r\nsteps:\r\n  - expect: { stateHash: "" } # here\r\n',
  "-dash.yaml": `seed: -a\n${FAILS}`,
  "bob's & co.yaml": FAILS,
  "there.yaml": "scenario: there\naccounts: { alice: {} }\nsteps: [{ alice: cancel all }]\n",
  "wallets.yaml": `accounts: { alice: { privateKey: "${SECRET}" } }\n`,
  "named.yaml": walletsOf("any", "$ALICE_KEY"),
  "slug.yaml": walletsOf("will-it-rian", `"${KEY}"`),
  "links/a.yaml": PASSES,
};
const TREE = ["A.YAML", "b.Yml", "deep/c.yaml", "_d.yaml", "_parts/e.yaml", ".f.yaml", ".git/g.yaml"];
const LINKS: Readonly<Record<string, string>> = {
  "links/b.yaml": "nowhere.yaml",
  "links/c.yaml": "c.yaml",
  "tree/deep/up": "..",
  "tree/linked": "deep",
};

beforeAll(async () => {
  for (const [name, text] of Object.entries(FILES)) folder.write(name, text);
  for (const name of TREE) folder.write(`tree/${name}`, PASSES);
  for (const [name, target] of Object.entries(LINKS)) symlinkSync(target, folder.at(name));
  for (let number = 0; number < 7; number += 1) folder.write(`many/${number}.yaml`, PASSES);
  await api.createMarket({ slug: "will-it-rain" });
  shell.names.set("LIVE-URL", api.server.url).set("THE-KEY", KEY);
});

it("clobsim run prints what its page shows, and no secret", async () => {
  const printed = await shell.expectPage(join(import.meta.dirname, "run.txt"));
  for (const secret of [SECRET, KEY, "THE-KEY"]) expect(printed).not.toContain(secret);
});

it.each([
  ["bad/fails.yaml", []],
  ["bad/fails.yaml", ["--via", "http"]],
  ["-dash.yaml", []],
  ["bob's & co.yaml", ["--seed", "$HOME it's"]],
])("clobsim run %s, with %j, prints a line that fails in the same way", async (file, flags) => {
  const resultOf = async (words: readonly string[]) => {
    const { stdout } = await runLine(["--verbose", "--reporter", "json", ...words], folder.path);
    const [result] = JSON.parse(stdout.replaceAll("./-dash", "-dash")).scenarios;
    return { ...result, durationMs: 0 };
  };
  const first = await resultOf(["run", ...flags, "--", file]);
  const words = `printf '%s\n' ${first.failure.repeat.replaceAll(" -dash", " ./-dash")}`;
  const [, ...repeat] = execFileSync("sh", ["-c", words], { encoding: "utf8" }).trimEnd().split("\n");
  expect(await resultOf(repeat)).toEqual(first);
});

it.each([
  ["the folder above, the checkout of GitHub", ".", "bad/fails.yaml"],
  ["a folder that is not above", "good", "fails.yaml"],
])(
  "clobsim run annotates for GitHub the file as seen from %s, and prints the totals",
  async (_folder, workspace, file) => {
    const args = ["run", "fails.yaml", "--reporter", "github"];
    const { stdout } = await runLine(args, folder.at("bad"), { GITHUB_WORKSPACE: folder.at(workspace) });
    expect(stdout).toContain(`::error file=${file},line=5,`);
    expect(stdout).toMatch(/\n0 passed, 1 failed, 0 skipped in \S+ m?s\n$/);
  },
);

describe.skipIf(process.platform === "win32")("a name in a message", () => {
  const HOSTILE = "hostile/\u001b[31m\n::error::x";
  const SHOWN = "hostile/\ufffd[31m ::error::x";

  it("neither begins a line nor reaches the terminal as an escape sequence: of an invalid file", async () => {
    folder.write(`${HOSTILE}.yaml`, "scenario: [");
    const { stderr } = await runLine(["run", "hostile"], folder.path);
    const [problem = "", summary, ...others] = stderr.split("\n");
    expect(problem).toMatch(`${SHOWN}.yaml:1:`);
    expect([summary, ...others]).toEqual(["clobsim: 1 problem in 1 file, nothing was run", ""]);
  });

  it.each(["replay", "run --report"])("the same: %s", async (command) => {
    folder.write(`${HOSTILE}.yaml`, FAILS);
    const args = [...command.split(" "), ...(command === "replay" ? [] : ["reports"]), `${HOSTILE}.yaml`];
    const { stderr } = await runLine(args, folder.path);
    expect(stderr).toContain(`${SHOWN}.yaml`);
    expect(stderr).toMatch(/^clobsim: [^\p{Cc}]+\n$/u);
  });
});

const clobsim = await useProgram();

it("clobsim run keeps an earlier file of a reporter until its replacement is complete", async () => {
  clobsim.write("a.yaml", PASSES);
  clobsim.write("long.yaml", "scenario: long\nsteps: [{ generate: { orders: 10000000, accounts: 2 } }]\n");
  clobsim.write("reports/kept.json", "earlier");
  const args = ["run", "long.yaml", "a.yaml", "--reporter", "json=reports/kept.json", "--reporter", "spec"];
  const { prints, end } = clobsim.launch(args);
  await prints("✓ a passes");
  await end("SIGINT");
  expect(clobsim.files("reports")).toEqual({ "kept.json": "earlier" });
});

it.skipIf(process.platform === "win32")("a reporter of clobsim run writes to a pipe", async () => {
  clobsim.write("fails.yaml", FAILS);
  execFileSync("mkfifo", [clobsim.path("pipe")]);
  const [text, { code }] = await Promise.all([
    readFile(clobsim.path("pipe"), "utf8"),
    clobsim.run(["run", "fails.yaml", "--reporter", "tap=pipe"]),
  ]);
  expect(code).toBe(1);
  expect(text).toMatch(/^TAP version 14\n.*^not ok 1/ms);
});
