import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { inspectorPage } from "../../src/inspector-page.ts";
import { temporaryFolder } from "../support/folder.ts";
import { refused, run, says, serve, trade } from "./tools.ts";

const folder = temporaryFolder();
const [data, report] = [join(folder, "data"), join(folder, "bug.ndjson")];
const SLOT = /<script id="report" type="application\/gzip"(?: data-name="([^"]*)")?>([^<]*)<\/script>/;

beforeAll(async () => {
  const server = await serve({ data });
  await trade(server.url);
  writeFileSync(report, await (await fetch(`${server.url}/sim/report`)).text());
  await server.close();
});

/** Returns the name and the text of the report in a page. */
function reportIn(path: string): { name: string; report: string } {
  const [, name = "", content = ""] = SLOT.exec(readFileSync(path, "utf8")) ?? [];
  return { name, report: gunzipSync(Buffer.from(content, "base64")).toString() };
}

describe("clobsim inspect --html", () => {
  it("writes the built page with the unchanged report in it", async () => {
    const html = join(folder, "bug.html");
    expect(await run("inspect", [report], { html })).toMatchObject({ code: 0, stdout: "" });
    expect(reportIn(html)).toEqual({ name: "bug.ndjson", report: readFileSync(report, "utf8") });
    const empty = '<script id="report" type="application/gzip"></script>';
    expect(readFileSync(html, "utf8").replace(SLOT, empty)).toBe(await inspectorPage());
  });

  it("writes the report of a data directory", async () => {
    const html = join(folder, "data.html");
    const { code, stderr } = await run("inspect", [data], { html });
    const { name, report: text } = reportIn(html);
    expect([code, stderr]).toEqual([0, says(`the inspector with a report of ${data} is in ${html}`)]);
    expect(name).toMatch(/^report-[0-9a-f]{8}\.ndjson$/);
    const copy = join(folder, name);
    writeFileSync(copy, text);
    expect(await run("replay", [copy])).toMatchObject({ code: 0 });
  });

  it("escapes markup in a name", async () => {
    const named = join(folder, `"><script>alert(1)<&.ndjson`);
    writeFileSync(named, readFileSync(report));
    const html = join(folder, "named.html");
    await run("inspect", [named], { html });
    const page = readFileSync(html, "utf8");
    expect(page).toContain('data-name="&quot;&gt;&lt;script&gt;alert(1)&lt;&amp;.ndjson"');
    expect(page).not.toContain("<script>alert");
  });

  it("writes a damaged report too, says where it is damaged, and exits with 3", async () => {
    const [damaged, html] = [join(folder, "damaged.ndjson"), join(folder, "damaged.html")];
    const lines = readFileSync(report, "utf8").split("\n");
    lines[3] = (lines[3] as string).replace('"t":', '"T":');
    writeFileSync(damaged, lines.join("\n"));
    const stderr = says(/damaged\.ndjson.* line 4 .*; the page shows the lines before the damage\n/);
    expect(await run("inspect", [damaged], { html })).toMatchObject({ code: 3, stderr });
    expect(reportIn(html).report).toBe(lines.join("\n"));
  });

  it("writes a report without its last line too, and warns that it may be cut", async () => {
    const [cut, html] = [join(folder, "cut.ndjson"), join(folder, "cut.html")];
    const lines = readFileSync(report, "utf8").trimEnd().split("\n");
    writeFileSync(cut, `${lines.slice(0, -1).join("\n")}\n`);
    const warning = `clobsim: ${cut}: the last line of a report is missing: the file may be cut\n`;
    for (const flags of [{ html }, {}]) {
      expect(await run("inspect", [cut], flags)).toMatchObject({ code: 0, stderr: says(warning) });
    }
    expect((await run("inspect", [cut], { at: "3" })).stderr).toBe("");
    expect((await run("inspect", [report])).stderr).toBe("");
  });

  it("replaces only a page that it has written", async () => {
    const [own, other] = [join(folder, "again.html"), join(folder, "other.html")];
    expect((await run("inspect", [report], { html: own })).code).toBe(0);
    expect((await run("inspect", [data], { html: own })).code).toBe(0);
    expect(reportIn(own).name).toMatch(/^report-/);
    writeFileSync(other, "<title>a page of mine</title>");
    const message = `--html expects the path of a new file, or of a page that it has written before, found ${other}`;
    expect(await run("inspect", [report], { html: other })).toEqual(refused(message));
    expect(readFileSync(other, "utf8")).toBe("<title>a page of mine</title>");
  });

  it.each([
    ["-", '--html expects the path of a file that ends in .html, found "-"'],
    ["bug.ndjson", '--html expects the path of a file that ends in .html, found "bug.ndjson"'],
    ["", "--html expects the path of a file that ends in .html, found nothing"],
    ["/no/such/x.html", "--html expects a file that can be written, found /no/such/x.html (ENOENT)"],
  ])("refuses %s", async (html, sentence) => {
    expect(await run("inspect", [report], { html })).toEqual(refused(sentence));
  });

  it.each(["at", "market", "account", "order", "all", "json"])("excludes --%s", async (flag) => {
    const value = { at: "3", account: "0x19e7", order: "7" }[flag] ?? "true";
    const html = join(folder, "none.html");
    const ended = await run("inspect", [report], { html, [flag]: value });
    expect(ended).toEqual(refused(says("--html shows the whole history")));
  });

  it("writes nothing if the file is not a report", async () => {
    const [text, empty] = [join(folder, "text.ndjson"), join(folder, "empty.ndjson")];
    writeFileSync(text, "hello\n");
    writeFileSync(empty, "");
    for (const path of [text, empty, join(folder, "nothing.ndjson")]) {
      const html = join(folder, "never.html");
      expect((await run("inspect", [path], { html })).code).toBe(2);
      expect(() => readFileSync(html)).toThrow("ENOENT");
    }
  });
});
