import { describe, expect, it } from "vitest";
import { apiOfTest, T0, useApi } from "../support/http.ts";
import { titleOf } from "./bad-inputs.ts";
import { refusalIn, replyTo, requestBytes } from "./raw-socket.ts";
import type { Refusal } from "./replies.ts";

const api = useApi();

// Hosts, origins and tokens that are accepted or refused stand in pages/raw.txt and pages/token.txt.
describe("the Host header", () => {
  it("is required in HTTP/1.0 too", async () => {
    const without = await replyTo(api.port, "GET /clob/time HTTP/1.0\r\n\r\n");
    expect(refusalIn(without)).toMatchObject({ status: 403, code: "HOST_NOT_ALLOWED" });
    const { status, text } = await replyTo(api.port, "GET /clob/time HTTP/1.0\r\nHost: localhost\r\n\r\n");
    expect([status, text]).toEqual([200, JSON.stringify({ time: T0 })]);
  });

  it("may be a name that the configuration allows", async () => {
    const own = await apiOfTest({ allowHost: ["exchange.test"] });
    const statusOf = async (host: string): Promise<number> =>
      (await replyTo(own.port, requestBytes("GET /clob/time", [`Host: ${host}`]))).status;
    expect(await statusOf("Exchange.Test:80")).toBe(200);
    expect(await statusOf(" \texchange.test \t")).toBe(200);
    expect(await statusOf("a.exchange.test")).toBe(403);
    expect(await statusOf("exchange.test.")).toBe(403);
  });
});

describe("the Origin header", () => {
  const [LOCAL, FOREIGN] = ["http://localhost:3000", "http://evil.example"];
  const grantsIn = (headers: object) =>
    Object.keys(headers).filter((name) => name.startsWith("access-control-"));
  const preflight = (origin: string, path: string, names: readonly string[] = []) => {
    const asked = { "access-control-request-method": "POST", "access-control-request-headers": names.join() };
    return api.send({ method: "OPTIONS", path, headers: { origin, ...asked } });
  };

  it("of a page of this machine may read headers and no cookies, and every reply depends on it", async () => {
    for (const path of ["/clob/time", "/sim", "/nowhere"]) {
      const { headers } = await api.send({ method: "GET", path, headers: { origin: LOCAL } });
      expect(headers).toMatchObject({ "access-control-allow-origin": LOCAL, vary: "origin" });
      expect(headers["access-control-expose-headers"]).toContain("x-sim-warning");
      expect(headers["access-control-allow-credentials"]).toBeUndefined();
    }
    const { headers } = await api.send({ method: "GET", path: "/clob/time", headers: { origin: FOREIGN } });
    expect(headers.vary).toBe("origin");
    expect(grantsIn(headers)).toEqual([]);
  });

  it(titleOf("H07"), async () => {
    const asked = ["poly_address", "poly_api_key", "poly_passphrase", "poly_timestamp", "poly_signature"];
    const { status, headers, text } = await preflight(LOCAL, "/clob/order", [...asked, "content-type"]);
    expect([status, text]).toEqual([204, ""]);
    expect(headers["access-control-allow-origin"]).toBe(LOCAL);
    const allowed = (what: string) => headers[`access-control-allow-${what}`]?.split(", ");
    expect(allowed("methods")).toEqual(expect.arrayContaining(["POST", "DELETE"]));
    expect(allowed("headers")).toEqual(expect.arrayContaining([...asked, "content-type"]));
  });

  it("of another site gets a preflight that allows nothing", async () => {
    const { status, headers } = await preflight(FOREIGN, "/sim/reset");
    expect(status).toBe(204);
    expect(grantsIn(headers)).toEqual([]);
  });
});

describe("the token of the control plane", () => {
  const TOKEN = "s3cret-token";
  const guarded = useApi({ simToken: TOKEN });

  it("is required on every route of /sim and on no other", async () => {
    for (const [path, methods] of Object.entries(guarded.document.json.paths)) {
      for (const method of Object.keys(methods)) {
        const route = path.replace(/\{\w+\}/g, "x");
        const bytes = requestBytes(`${method.toUpperCase()} ${route}`);
        const { text } = await replyTo(guarded.port, bytes);
        const isRequired = (JSON.parse(text) as Partial<Refusal>).code === "SIM_TOKEN_REQUIRED";
        expect(isRequired, `${method} ${path}`).toBe(path.startsWith("/sim"));
      }
    }
  });

  it("is never in an answer", async () => {
    for (const path of ["/sim", "/sim/state", "/openapi.json"]) {
      expect((await guarded.send(`GET ${path}`)).text).not.toContain(TOKEN);
    }
  });
});
