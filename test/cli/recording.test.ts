import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/folder.ts";
import { refused, run, says, serve, trade } from "./tools.ts";

const folder = temporaryFolder();
const report = join(folder, "bug.ndjson");
const data = join(folder, "data");
/** The scenario recorded from the running server. */
let live = "";

beforeAll(async () => {
  const server = await serve({ data });
  await trade(server.url);
  live = (await run("record", [], { url: server.url })).stdout;
  await run("report", [server.url], { out: report });
  await server.close();
});

describe("clobsim record of a journal", () => {
  it.each([
    ["a report", report],
    ["a data directory", data],
  ])("writes the same of %s as of the running server", async (_case, name) => {
    expect(await run("record", [name])).toEqual({ code: 0, stdout: live, stderr: "" });
  });

  it("writes a file that passes", async () => {
    const out = join(folder, "session.yaml");
    const stderr = `clobsim: recorded 3 orders and 2 trades in ${out}\n`;
    const ended = await run("record", [report], { out, name: "a morning" });
    expect(ended).toMatchObject({ code: 0, stderr });
    expect(readFileSync(out, "utf8")).toContain("\nscenario: a morning\n");
    expect((await run("run", [out])).code).toBe(0);
  });

  it("stops after a line, or at a time", async () => {
    const journal = readFileSync(report, "utf8").split("\n");
    const first = 1 + journal.findIndex((line) => line.includes('"k":"order"'));
    const stdout = says("scenario: recorded session of 1 order\n");
    expect(await run("record", [report], { at: String(first) })).toMatchObject({ code: 0, stdout });
    const passed = "- at: 2026-01-01T00:00:06Z\n";
    expect(live).toContain(passed);
    expect((await run("record", [data], { at: "2026-01-01T00:00:00Z" })).stdout).not.toContain(passed);
  });

  it.each([14, 16, 17, 18])("continues after line %i to the end of the same time", async (line) => {
    const chain = "fixtures/journals/fees-independent-books-and-expiry.ndjson";
    const { code, stdout } = await run("record", [chain], { at: String(line) });
    expect(code).toBe(0);
    const out = join(folder, "cut.yaml");
    writeFileSync(out, stdout);
    expect((await run("run", [out])).code).toBe(0);
  });

  it.each<[string[], Record<string, string>, string]>([
    [[report], { at: "999" }, `--at expects a line of ${report}, which has `],
    [[report], { at: "soon" }, "--at expects the number of a line, or a time with its zone such as"],
    [[], { at: "3" }, "--at is expected with a data directory or a report, found it alone"],
    [[report], { url: "http://h" }, "record expects a running exchange or a journal, found --url and "],
    [[report], { from: "http://127.0.0.1:1" }, "found --from and "],
    [["http://127.0.0.1:1"], {}, "record expects a server behind --url, found http://127.0.0.1:1 alone\n"],
    [["nowhere"], {}, "there is no nowhere: expected a data directory or a report"],
    [[report, data], {}, "record expects one data directory or report, found 2"],
  ])("refuses %j %j", async (words, flags, message) => {
    expect(await run("record", words, flags)).toEqual(refused(says(message)));
  });
});
