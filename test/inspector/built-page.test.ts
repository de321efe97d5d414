import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { inspectorPage } from "../../src/inspector-page.ts";

const MAX_BYTES = 250_000;

it("the built page is one file of at most 250 kB compressed and loads no other file", async () => {
  const page = (await inspectorPage()) ?? "";
  expect(page).toContain("<title>clobsim inspector</title>");
  expect(gzipSync(page, { level: 9 }).length).toBeLessThan(MAX_BYTES);
  const [head = ""] = page.split("<style>");
  expect(page.match(/<link[^>]*>/g)).toEqual(['<link rel="icon" href="data:,">']);
  expect(page.match(/<script[^>]*>/g)).toEqual([
    '<script id="report" type="application/gzip">',
    '<script type="module">',
  ]);
  expect(head).not.toMatch(/https?:\/\//);
  const [, style = ""] = /<style>(.*)<\/style>/s.exec(page) ?? [];
  expect(style).not.toMatch(/@import|url\(/);
});
