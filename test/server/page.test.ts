import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { inspectorPage } from "../../src/inspector-page.ts";
import { type Headers, useApi, useServer } from "../support/http.ts";
import { headerLines, replyTo, requestBytes } from "./raw-socket.ts";
import type { Refusal } from "./replies.ts";

/** The Accept header of a browser's navigation. */
const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8";

/** Sends a request with these headers and no others. */
async function ask(url: string, headers: Headers = {}, method = "GET") {
  const { host, port, pathname, search } = new URL(url);
  const bytes = requestBytes(`${method} ${pathname}${search}`, headerLines({ host, ...headers }));
  const reply = await replyTo(Number(port), bytes, { isHead: method === "HEAD" });
  const named = Object.fromEntries([...reply.headers].map(([name, values]) => [name, values.join()]));
  return { ...reply, headers: named as Headers };
}

const jsonIn = ({ text }: { readonly text: string }): Refusal => JSON.parse(text) as Refusal;
const api = useApi();
const root = (): string => `${api.server.url}/`;
const pool = await useServer({ pool: 3 });
const built = (await inspectorPage()) ?? "";

describe("GET / of an exchange", () => {
  it.each([
    BROWSER,
    "text/html",
    "text/html, */*",
    "text/html, application/xhtml+xml, image/jxr, */*",
    "TEXT/HTML;level=1;q=0.9, application/json;q=0.8",
  ])("is the inspector if HTML is preferred: %s", async (accept) => {
    const { status, headers, text } = await ask(root(), { accept });
    expect(status).toBe(200);
    expect(headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(text).toBe(built);
    expect(built).toMatch(/^<!doctype html>/);
  });

  it("has no other methods, and no page for a client without a preference", async () => {
    for (const method of ["POST", "DELETE", "PUT"]) {
      const answer = await ask(root(), { accept: BROWSER }, method);
      expect(jsonIn(answer)).toMatchObject({ status: 404, code: "ROUTE_NOT_FOUND" });
    }
    // The other preferences stand in pages/raw.txt.
    const { status, headers } = await ask(root());
    expect([status, headers.vary]).toEqual([404, "accept"]);
  });

  it("compresses the page if the client accepts gzip", async () => {
    const { headers, bytes } = await ask(root(), { accept: BROWSER, "accept-encoding": "deflate, gzip, br" });
    expect(headers["content-encoding"]).toBe("gzip");
    expect(gunzipSync(bytes).toString()).toBe(built);
    const plain = await ask(root(), { accept: BROWSER, "accept-encoding": "br, gzip;q=0" });
    expect(plain.headers["content-encoding"]).toBeUndefined();
    expect(plain.headers.vary).toBe("accept, accept-encoding");
  });

  it("answers HEAD with the same headers and no body", async () => {
    const whole = await ask(root(), { accept: BROWSER });
    const { bytes, headers, status } = await ask(root(), { accept: BROWSER }, "HEAD");
    expect({ status, length: bytes.length }).toEqual({ status: 200, length: 0 });
    expect({ ...headers, "x-request-id": "" }).toEqual({ ...whole.headers, "x-request-id": "" });
    expect(Number(headers["content-length"])).toBe(Buffer.byteLength(built));
  });

  it("answers 304 if the browser has the page", async () => {
    const { headers } = await ask(root(), { accept: BROWSER });
    expect(headers["cache-control"]).toBe("no-cache");
    const tag = String(headers.etag);
    for (const known of [tag, `"x", ${tag}`, tag.replace("W/", ""), "*"]) {
      const again = await ask(root(), { accept: BROWSER, "if-none-match": known });
      expect({ status: again.status, length: again.bytes.length }).toEqual({ status: 304, length: 0 });
      expect(again.headers).toMatchObject({ etag: tag, vary: "accept, accept-encoding" });
    }
    expect((await ask(root(), { accept: BROWSER, "if-none-match": '"x"' })).status).toBe(200);
  });

  it("allows only the built script and style and requests to the server, and no frame", async () => {
    const { headers } = await ask(root(), { accept: BROWSER });
    const policy = Object.fromEntries(
      String(headers["content-security-policy"])
        .split("; ")
        .map((part) => {
          const [name = "", ...values] = part.split(" ");
          return [name, values];
        }),
    );
    const [, script = ""] = /<script type="module">(.*)<\/script>/s.exec(built) ?? [];
    const [, style = ""] = /<style>(.*)<\/style>/s.exec(built) ?? [];
    const hashOf = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
    expect(policy).toEqual({
      "default-src": ["'none'"],
      "script-src": [hashOf(script)],
      "style-src": [hashOf(style)],
      "connect-src": ["'self'"],
      "img-src": ["data:"],
      "base-uri": ["'none'"],
      "form-action": ["'none'"],
      "frame-ancestors": ["'none'"],
    });
    expect(headers).toMatchObject({
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
    });
  });

  it("checks the host, and allows no page of another origin to read it", async () => {
    const foreign = await ask(root(), { accept: BROWSER, host: "evil.example" });
    expect(jsonIn(foreign)).toMatchObject({ status: 403, code: "HOST_NOT_ALLOWED" });
    for (const origin of ["http://evil.example", "http://localhost:3000"]) {
      const { headers } = await ask(root(), { accept: BROWSER, origin });
      expect(Object.keys(headers).filter((name) => name.startsWith("access-control-"))).toEqual([]);
    }
  });

  it("ignores faults on requests, and changes nothing", async () => {
    const before = await api.stateHash();
    await api.post("/sim/faults", { status: 503 });
    expect((await ask(root(), { accept: BROWSER })).status).toBe(200);
    await api.send("DELETE /sim/faults");
    expect(await api.stateHash()).toBe(before);
  });
});

describe("GET /3 of a pool", () => {
  it.each(["/3", "/3/", "/3?report=x", "/1/"])("is the inspector of that exchange: %s", async (path) => {
    const { status, text } = await ask(pool.url + path, { accept: BROWSER });
    expect({ status, html: text }).toEqual({ status: 200, html: built });
  });

  it("is a 404 for an exchange that the pool does not have", async () => {
    const answer = await ask(`${pool.url}/4/`, { accept: BROWSER });
    expect(jsonIn(answer)).toMatchObject({ status: 404, code: "ROUTE_NOT_FOUND" });
  });

  it("has at / a page without scripts that links to each exchange and allows no frame", async () => {
    const { status, headers, bytes } = await ask(`${pool.url}/`, { accept: BROWSER });
    expect({ status, type: headers["content-type"] }).toEqual({
      ...{ status: 200, type: "text/html; charset=utf-8" },
    });
    const links = [...bytes.toString().matchAll(/<a href="([^"]*)">/g)].map(([, href]) => href);
    expect(links).toEqual(["1/", "2/", "3/"]);
    expect(headers["content-security-policy"]).toBe(
      "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    const head = await ask(`${pool.url}/`, { accept: BROWSER }, "HEAD");
    expect([head.headers["content-length"], head.bytes.length]).toEqual([String(bytes.length), 0]);
  });

  it.each([undefined, "*/*", "application/json, text/html"])(
    "is otherwise the JSON list at /: %s",
    async (accept) => {
      const answer = await ask(`${pool.url}/`, accept === undefined ? {} : { accept });
      expect(jsonIn(answer)).toMatchObject({ pool: 3 });
    },
  );
});

describe("a page served by the server", () => {
  const own = useApi({ allowHost: ["sim.example"], host: "127.0.0.1" });

  it.each([
    ["http://sim.example:7070", "sim.example:7070", 200],
    ["https://sim.example", "sim.example", 200],
    ["http://sim.example:8080", "sim.example:7070", 403],
    ["http://evil.example", "sim.example", 403],
    ["null", "sim.example", 403],
  ])(
    "may use the control plane under an allowed name of the server: %s at %s",
    async (origin, host, status) => {
      const answer = await ask(`${own.server.url}/sim`, { origin, host });
      expect(answer.status).toBe(status);
    },
  );
});
