import { basename } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Ended, Program } from "../../support/program.ts";
import { rowsOf } from "../../support/table.ts";
import { type CommandResult, refused, runLine, says } from "../tools.ts";
import { plantedFuzzer, startFuzz } from "./planted.ts";

let fuzzer: Program;
const run = (line: string): Promise<Ended> => startFuzz(fuzzer, line).ended;
/** Runs merge or show, which run no seed. */
const read = (line: string): Promise<CommandResult> =>
  runLine(["fuzz", ...line.split(" ").filter((word) => word !== "")], fuzzer.folder);
let unsharded: string;

beforeAll(async () => {
  fuzzer = await plantedFuzzer();
  const shards = [1, 2, 3].flatMap((index) => [
    run(`--seeds 0..200 --shard ${index}/3 --out shared`),
    run(`--seeds 0..200 --shard ${index}/3 --out own/${index}`),
  ]);
  const ended = await Promise.all([...shards, run("--seeds 0..200 --out unsharded")]);
  await run("--seeds 300..310 --commands 20 --out other");
  fuzzer.write("empty/notes.txt", "no results\n");
  expect(ended.map(({ code }) => code)).toEqual(ended.map(() => 1));
  unsharded = fuzzer.files("unsharded")["fuzz-0-200.json"] ?? "";
});

afterAll(() => fuzzer.dispose());

/** Parses results, with only the names of paths. */
function withoutFolders(text: string): unknown {
  const isPath = (key: string): boolean => key === "scenario" || key === "report";
  return JSON.parse(text, (key, value: unknown) =>
    isPath(key) && typeof value === "string" ? basename(value) : value,
  );
}

describe("clobsim fuzz merge", () => {
  it("merges shards in one directory into the same bytes as one run of all seeds", async () => {
    const { code, stdout, stderr } = await read("merge shared --out shared/fuzz.json");
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    expect(stderr).toBe("clobsim: 3 results merged into shared/fuzz.json: 2 failures in 200 seeds\n");
    expect(fuzzer.read("shared/fuzz.json")).toBe(unsharded);
    const files = fuzzer.files("shared");
    for (const [name, text] of Object.entries(fuzzer.files("unsharded"))) {
      if (name.startsWith("seed-")) expect(files[name]).toBe(text);
    }
  });

  it("does not read its own output again", async () => {
    await read("merge shared --out shared/fuzz.json");
    expect(fuzzer.read("shared/fuzz.json")).toBe(unsharded);
  });

  it("merges shards in separate directories, with paths relative to the output", async () => {
    await read("merge own/1 own/2 own/3 --out merged.json");
    const merged = fuzzer.read("merged.json");
    expect(withoutFolders(merged)).toEqual(JSON.parse(unsharded));
    expect(JSON.parse(merged)).toMatchObject({
      failures: [
        { seed: 5, scenario: "own/3/seed-5.yaml" },
        { seed: 11, scenario: "own/3/seed-11.yaml" },
      ],
    });
  });

  it("merges merged results, and prints without --out", async () => {
    await read("merge own/1 own/2 --out first-two.json");
    const { code, stdout } = await read("merge first-two.json own/3/fuzz-0-200-3-of-3.json");
    expect(code).toBe(0);
    expect(withoutFolders(stdout)).toEqual(JSON.parse(unsharded));
  });

  it("reads a file once if it is named twice", async () => {
    const { code, stdout } = await read("merge unsharded unsharded/fuzz-0-200.json");
    expect(code).toBe(0);
    expect(withoutFolders(stdout)).toEqual(JSON.parse(unsharded));
  });

  it.each(
    rowsOf(`
    .                             | fuzz merge expects directories or files of results, found none
    nowhere                       | nowhere: there is no such file or directory
    empty                         | empty holds no results of clobsim fuzz, which are called fuzz-*.json
    own/1 other                   | only results with the same settings can be merged, found 300 commands via process in own/1/fuzz-0-200-1-of-3.json and 20 commands via process in other/fuzz-300-310-20-commands.json
    own/2 unsharded               | own/2/fuzz-0-200-2-of-3.json and unsharded/fuzz-0-200.json both hold seed 1: the same seeds would be counted twice
    own/1 --seeds 0..5            | --seeds does not go with fuzz merge
    own/1 --out nowhere/fuzz.json | --out expects a file that can be written, found nowhere/fuzz.json (ENOENT)
    own/1 --out own               | --out expects a file that can be written, found own (EISDIR)
  `),
  )("refuses %j in one line", async (words, message) => {
    expect(await read(`merge ${words}`)).toEqual(refused(message));
  });
});

describe("clobsim fuzz show", () => {
  it("prints a table whose rows end with the command line that repeats the failure", async () => {
    const { code, stdout, stderr } = await read("show unsharded/fuzz-0-200.json");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toBe(`unsharded/fuzz-0-200.json: 300 commands a seed via process, 200 seeds
  0.1.0  seeds 0..200: 200 done

seeds  smallest  command  since  failure                          repeat
   12         5        7  0.1.0  a balance is below zero          clobsim fuzz --seeds 5..6 --commands 300
    4        11       30  0.1.0  the reference answers otherwise  clobsim fuzz --seeds 11..12 --commands 300

2 failures in 16 seeds
`);
  });

  it("prints that nothing failed", async () => {
    await run("--seeds 0..5 --shard 2/2 --out clean");
    const { code, stdout } = await read("show clean/fuzz-0-5-2-of-2.json");
    expect(code).toBe(0);
    expect(stdout).toBe(`clean/fuzz-0-5-2-of-2.json: 300 commands a seed via process, 2 seeds
  0.1.0  seeds 0..5, shard 2/2: 2 done
no failure
`);
  });

  it.each([
    ["", "fuzz show expects one file of results, found none"],
    ["a.json b.json", "fuzz show expects one file of results, found 2"],
    ["nowhere.json", "nowhere.json: there is no such file"],
    ["unsharded", "unsharded: expected a file, found a directory"],
    ["unsharded/fuzz-0-200.json --out x", "--out does not go with fuzz show"],
  ])("refuses %j in one line with exit code 2", async (words, message) => {
    expect(await read(`show ${words}`)).toEqual(refused(message));
  });

  const NO_RESULTS = 'expected results of clobsim fuzz, format "clobsim-fuzz/1", found';

  type Edited = [what: string, edit: (text: string) => string, exit: number, message: string];
  it.each<Edited>([
    ["no JSON", () => "seeds: 5\n", 2, `${NO_RESULTS} no JSON`],
    ["a list", () => "[]\n", 2, `${NO_RESULTS} nothing`],
    ["null", () => "null\n", 2, `${NO_RESULTS} null`],
    ["a world", () => '{ "format": "clobsim-world/1" }', 2, `${NO_RESULTS} "clobsim-world/1"`],
    ["half a file", (text) => text.slice(0, 200), 3, "JSON up to its end, line 13, found something else"],
    ["no count", (text) => text.replace(/ +"count": 12,\n/, ""), 3, "from 1, found nothing"],
    ...rowsOf(`
    a newer format             | clobsim-fuzz/1 | clobsim-fuzz/2  | 6 | has the format "clobsim-fuzz/2", this version reads clobsim-fuzz/1
    a wrong seed               | "seed": 5,     | "seed": "5",    | 3 | failures[0].seed: expected an integer from 0, found "5"
    another line to repeat it  | --seeds 5..6   | --seeds 5..7    | 3 | failures[0].repeat: expected "clobsim fuzz --seeds 5..6 --commands 300", found "clobsim fuzz --seeds 5..7 --commands 300"
    more failures than seeds   | "count": 12    | "count": 197    | 3 | failures: expected failures in at most the 200 seeds that were run, found 201
    a fingerprint twice        | the reference answers otherwise | a balance is below zero | 3 | failures: expected each fingerprint once, found "a balance is below zero"
    more done than there are   | "done": 200    | "done": 201     | 3 | ran[0].done: expected an integer from 0 to 200, found 201
    no range                   | "0..200"       | "200"           | 3 | ran[0].seeds: expected a range such as 0..10000, found "200"
    no shard                   | "1/1"          | "2/1"           | 3 | ran[0].shard: expected i/n with i from 1 to n, such as 2/4, found "2/1"
    another way                | "process"      | "ftp"           | 3 | via: expected one of process, http, found "ftp"
    an unknown field           | "via"          | "vía"           | 3 | via: expected one of process, http, found nothing
    `).map(
      ([what = "", from = "", to = "", exit, message = ""]): Edited => [
        ...([what, (text: string) => text.replace(from, to), Number(exit), message] as const),
      ],
    ),
  ])("refuses a file with %s, and names the place", async (_case, edit, exit, message) => {
    fuzzer.write("edited.json", edit(unsharded));
    const ended = await read("show edited.json");
    expect(ended).toEqual(refused(says(/^clobsim: edited\.json:? .*\n$/), exit));
    expect(ended.stderr).toContain(message);
  });
});
