import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/folder.ts";
import { run, serve, trade } from "./tools.ts";

const folder = temporaryFolder();
const data = join(folder, "data");

beforeAll(async () => {
  const server = await serve({ data });
  await trade(server.url);
  await server.close();
});

/** The journal with a line changed, its checks and those of all lines behind it made right. */
function changed(name: string, kind: string, change: (line: string) => string): string {
  const lines = readFileSync(join(data, "journal.ndjson"), "utf8").trimEnd().split("\n");
  const at = lines.findIndex((line) => line.includes(`"k":"${kind}"`));
  if (at < 0) throw new Error(`no line ${kind}`);
  let check = "00000000";
  const rechained = lines.map((line, index) => {
    const content = index === at ? change(line) : line;
    const body = content.replace(/"p":"[0-9a-f]{8}"/, `"p":"${check}"`).slice(0, -10);
    check = crc32(body).toString(16).padStart(8, "0");
    return `${body}${check}"}\n`;
  });
  const path = join(folder, name);
  writeFileSync(path, rechained.join(""));
  return path;
}

describe("clobsim replay", () => {
  it("finds every command of a directory as recorded, and the state that its last line names", async () => {
    const { code, stdout, stderr } = await run("replay", [data]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const hash = /"hash":"(v2:[0-9a-f]{64})","wall"/.exec(
      readFileSync(join(data, "journal.ndjson"), "utf8"),
    )?.[1];
    expect(stdout).toContain("each has the recorded outcome");
    expect(stdout).toContain(`state ${hash}`);
  });

  it("says that the end of a report is missing", async () => {
    const lines = readFileSync(join(data, "journal.ndjson"), "utf8").trimEnd().split("\n");
    const file = join(folder, "cut.ndjson");
    writeFileSync(file, `${lines.slice(0, 4).join("\n")}\n`);
    const cut = "the last line of a report is missing: the file may be cut";
    expect((await run("replay", [file])).stdout).toContain(cut);
    expect((await run("replay", [file], { to: "3" })).stdout).not.toContain(cut);
    expect((await run("replay", [data])).stdout).not.toContain(cut);
  });

  it("stops after a line, or before a later moment", async () => {
    const upTo = await run("replay", [data], { to: "4" });
    expect(upTo.stdout).toMatch(/up to line 4 at/);
    const until = await run("replay", [data], { until: "2026-01-01T00:00:09Z" });
    expect(until.stdout).toContain("at 2026-01-01T00:00:00.000Z");
  });

  it("names the first command with another outcome, with both outcomes side by side, and ends with 7", async () => {
    const file = changed("other.ndjson", "order", (line) => line.replace(/"size":\d+/, '"size":2000'));
    const { code, stderr } = await run("replay", [file]);
    expect(code).toBe(7);
    expect(stderr).toMatch(
      /^clobsim: line \d+ of .*other\.ndjson, order, has another outcome than recorded\n/,
    );
    expect(stderr).toMatch(/BUY 20 YES @ 0\.99/);
    expect(stderr).toMatch(
      / +recorded +now\n +outcome +accepted +accepted: .*\n +events +[0-9a-f]{8} +[0-9a-f]{8}\n/,
    );
  });

  it("finds a command that is refused now", async () => {
    const file = changed("refused.ndjson", "order", (line) => line.replace(/"price":\d+/, '"price":9901'));
    const { code, stderr } = await run("replay", [file]);
    expect({ code, isTold: stderr.includes("refused, INVALID_TICK_SIZE") }).toEqual({
      code: 7,
      isTold: true,
    });
  });

  it("finds a state that differs from the one in a line", async () => {
    const file = changed("state.ndjson", "close", (line) =>
      line.replace(/"hash":"v2:[0-9a-f]{64}"/, `"hash":"v2:${"0".repeat(64)}"`),
    );
    const { code, stderr } = await run("replay", [file]);
    expect({ code, isTold: stderr.includes("the state differs") }).toEqual({ code: 7, isTold: true });
  });

  it("ends with 3 where a line is damaged, and with 2 where there is no journal", async () => {
    const text = readFileSync(join(data, "journal.ndjson"), "utf8");
    const file = join(folder, "cut.ndjson");
    writeFileSync(file, text.slice(0, -30));
    expect((await run("replay", [file])).code).toBe(3);
    expect((await run("replay", [join(folder, "nothing")])).code).toBe(2);
    expect((await run("replay", [folder])).code).toBe(2);
  });
});
