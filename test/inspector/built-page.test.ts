import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { inspectorPage } from "../../src/inspector-page.ts";

const MOST_BYTES = 250_000;

it("is one page of at most 250 kB compressed, the engine included, that names no other file", async () => {
  const page = (await inspectorPage()) ?? "";
  expect(page).toContain("<title>clobsim inspector</title>");
  expect(gzipSync(page, { level: 9 }).length).toBeLessThan(MOST_BYTES);
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
