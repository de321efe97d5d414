import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { useProgram } from "../../support/program.ts";
import { runLine } from "../tools.ts";

const clobsim = await useProgram();

const WATCHING = "watching for changes";
const scenario = (name: string, step = "advance: 1s"): string =>
  `scenario: ${name}\nsteps: [{ ${step} }]\n`.padEnd(100, "\n");
/** Writes over a file in one step, so that the program never reads a part of it. */
const overwrite = (path: string, text: string): void =>
  writeFileSync(clobsim.path(path), text, { flag: "r+" });
const FAILING = 'expect: { stateHash: "" }';

describe("clobsim run --watch", () => {
  it("runs again after each change, fails and recovers, and ends at SIGINT with 0", async () => {
    clobsim.write("watched/a.yaml", scenario("the first text"));
    const { prints, end } = clobsim.launch(["run", "watched", "--watch"]);
    await prints(WATCHING);
    overwrite("watched/a.yaml", scenario("the second text", FAILING));
    await prints("the second text");
    await prints("1 failed");
    overwrite("watched/a.yaml", scenario("the third text"));
    await prints("the third text");
    const { code, stdout, stderr } = await end("SIGINT");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("✓ the first text");
    expect(stdout).toContain("✗ the second text");
    expect(stdout).toContain("✓ the third text");
  });

  it("continues after an invalid file", async () => {
    clobsim.write("fixed/a.yaml", "scenario: wrong\n");
    const { prints, end } = clobsim.launch(["run", "fixed/a.yaml", "--watch"]);
    await prints(WATCHING);
    overwrite("fixed/a.yaml", scenario("fixed"));
    await prints("✓ fixed");
    const { code, stderr } = await end("SIGTERM");
    expect(code).toBe(0);
    expect(stderr).toMatch(/^fixed\/a\.yaml:1:1: .*\nclobsim: 1 problem in 1 file, nothing was run\n$/);
  });

  it("sees new files, and files that replace others, as editors save them", async () => {
    clobsim.write("saved/a.yaml", scenario("before"));
    const { prints, end } = clobsim.launch(["run", "saved", "--watch"]);
    await prints(WATCHING);
    clobsim.write("saved/b.yaml", scenario("came later"));
    await prints("✓ came later");
    for (const text of ["replaced once", "replaced twice"]) {
      clobsim.write("saved/a.yaml.draft", scenario(text));
      renameSync(join(clobsim.folder, "saved/a.yaml.draft"), join(clobsim.folder, "saved/a.yaml"));
      await prints(`✓ ${text}`);
    }
    expect((await end("SIGINT")).code).toBe(0);
  });

  it("sees changes in new folders, and in folders that replace others", async () => {
    clobsim.write("nested/a.yaml", scenario("at first"));
    const { prints, end } = clobsim.launch(["run", "nested", "--watch"]);
    await prints(WATCHING);
    for (const text of ["a deeper one", "another deeper one"]) {
      clobsim.write("draft/b.yaml", scenario(text));
      rmSync(join(clobsim.folder, "nested/deep"), { recursive: true, force: true });
      renameSync(join(clobsim.folder, "draft"), join(clobsim.folder, "nested/deep"));
      await prints(`✓ ${text}`);
      clobsim.write("nested/deep/b.yaml", scenario(`${text}, changed`));
      await prints(`✓ ${text}, changed`);
    }
    expect((await end("SIGINT")).code).toBe(0);
  });

  it("does not run again because of other files, nor of what the run writes", async () => {
    clobsim.write("own/a.yaml", scenario("golden", "expect: { golden: golden.txt }"));
    clobsim.write("own/b.yaml", scenario("the first text", FAILING));
    const args = ["--update", "--report", "own/reports", "--reporter", "spec", "--reporter", "tap=own/a.tap"];
    const { prints, end } = clobsim.launch(["run", "own", "--watch", ...args]);
    await prints(WATCHING);
    clobsim.write("own/notes.txt", "not read");
    clobsim.write("own/.draft/c.yaml", scenario("hidden"));
    // Gives the watcher time to see its own files.
    await clobsim.run(["run", "own/a.yaml"]);
    clobsim.write("own/b.yaml", scenario("the second text"));
    await prints("✓ the second text");
    const { stdout } = await end("SIGINT");
    expect(stdout).toContain("wrote own/golden.txt");
    expect(stdout.match(/in 2 files/g)?.length).toBe(2);
  });

  it("runs again when a file that a scenario names changes, or comes", async () => {
    clobsim.write("named/a.yaml", "scenario: parts\nsteps: [{ include: parts/one.steps }]\n");
    const { prints, end } = clobsim.launch(["run", "named/a.yaml", "--watch"]);
    await prints(WATCHING);
    clobsim.write("named/parts/one.steps", `- ${FAILING}\n`);
    await prints("1 failed");
    clobsim.write("named/parts/one.steps", "- advance: 1s\n");
    await prints("1 passed");
    expect((await end("SIGINT")).code).toBe(0);
  });

  it("ends with 2 if a run without --watch would", async () => {
    clobsim.write("refused/a.yaml", scenario("never run"));
    for (const wrong of [["--grep", "("], ["--seed", "3", "--update"], ["--reporter", "xml"], ["nowhere"]]) {
      const once = await runLine(["run", "refused", ...wrong], clobsim.folder);
      expect(once.code).toBe(2);
      expect(await runLine(["run", "refused", ...wrong, "--watch"], clobsim.folder)).toEqual(once);
    }
  });
});
