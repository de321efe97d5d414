import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Launcher } from "./launcher.ts";

let clobsim: Launcher;

beforeAll(async () => {
  clobsim = await Launcher.bundled();
});

afterAll(() => clobsim.dispose());

const WATCHING = "watching; a change runs it again";
const scenario = (name: string, step = "advance: 1s"): string => `scenario: ${name}\nsteps: [{ ${step} }]\n`;
const FAILING = 'expect: { stateHash: "" }';

describe("clobsim run --watch", () => {
  it("runs again after each change, fails and recovers, and ends at SIGINT with 0", async () => {
    clobsim.write("watched/a.yaml", scenario("the first text"));
    const { prints, signal, ended } = clobsim.launch(["watched", "--watch"]);
    await prints(WATCHING, 1);
    clobsim.write("watched/a.yaml", scenario("the second text", FAILING));
    await prints("the second text", 1);
    await prints("1 failed", 1);
    clobsim.write("watched/a.yaml", scenario("the third text"));
    await prints("the third text", 1);
    signal("SIGINT");
    const { code, stdout, stderr } = await ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("✓ the first text");
    expect(stdout).toContain("✗ the second text");
    expect(stdout).toContain("✓ the third text");
  });

  it("goes on after a file that is wrong", async () => {
    clobsim.write("mended/a.yaml", "scenario: wrong\n");
    const { prints, signal, ended } = clobsim.launch(["mended/a.yaml", "--watch"]);
    await prints(WATCHING, 1);
    clobsim.write("mended/a.yaml", scenario("mended"));
    await prints("✓ mended", 1);
    signal("SIGTERM");
    const { code, stderr } = await ended;
    expect(code).toBe(0);
    expect(stderr).toMatch(/^mended\/a\.yaml:1:1: .*\nclobsim: 1 problem in 1 file, nothing was run\n$/);
  });

  it("sees files that come, and those that replace others, as editors save them", async () => {
    clobsim.write("saved/a.yaml", scenario("before"));
    const { prints, signal, ended } = clobsim.launch(["saved", "--watch"]);
    await prints(WATCHING, 1);
    clobsim.write("saved/b.yaml", scenario("came later"));
    await prints("✓ came later", 1);
    for (const text of ["replaced once", "replaced twice"]) {
      clobsim.write("saved/a.yaml.draft", scenario(text));
      renameSync(join(clobsim.folder, "saved/a.yaml.draft"), join(clobsim.folder, "saved/a.yaml"));
      await prints(`✓ ${text}`, 1);
    }
    signal("SIGINT");
    expect((await ended).code).toBe(0);
  });

  it("sees what changes in folders that come later, and in those that take the place of others", async () => {
    clobsim.write("nested/a.yaml", scenario("at first"));
    const { prints, signal, ended } = clobsim.launch(["nested", "--watch"]);
    await prints(WATCHING, 1);
    for (const text of ["a deeper one", "another deeper one"]) {
      clobsim.write("draft/b.yaml", scenario(text));
      rmSync(join(clobsim.folder, "nested/deep"), { recursive: true, force: true });
      renameSync(join(clobsim.folder, "draft"), join(clobsim.folder, "nested/deep"));
      await prints(`✓ ${text}`, 1);
      clobsim.write("nested/deep/b.yaml", scenario(`${text}, changed`));
      await prints(`✓ ${text}, changed`, 1);
    }
    signal("SIGINT");
    expect((await ended).code).toBe(0);
  });
});
