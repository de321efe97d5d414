import { describe, expect, it } from "vitest";
import { apiOfTest, type Headers, T0, useApi } from "../support/http.ts";
import { titleOf } from "./bad-inputs.ts";
import {
  HOST,
  headerLines,
  type RawReply,
  refusalIn,
  refusalTo,
  replyTo,
  requestBytes,
} from "./raw-socket.ts";
import type { Refusal } from "./replies.ts";

const api = useApi();

const TIME = JSON.stringify({ time: T0 });

async function textFor(line: string, headers: readonly string[]): Promise<string> {
  const { status, text } = await replyTo(api.port, requestBytes(line, headers));
  expect(status, `${line} ${headers.join()} ${text}`).toBe(200);
  return text;
}

describe("the Host header", () => {
  it(titleOf("H02"), async () => {
    const { port } = api;
    for (const host of [
      `localhost:${port}`,
      `127.0.0.1:${port}`,
      `[::1]:${port}`,
      `LOCALHOST:${port}`,
      " \tlocalhost \t",
    ]) {
      expect(await textFor("GET /clob/time", [`Host: ${host}`])).toBe(TIME);
    }
  });

  it("is required in HTTP/1.0 too", async () => {
    const without = await replyTo(api.port, "GET /clob/time HTTP/1.0\r\n\r\n");
    expect(refusalIn(without)).toMatchObject({ status: 403, code: "HOST_NOT_ALLOWED" });
    const { status, text } = await replyTo(api.port, "GET /clob/time HTTP/1.0\r\nHost: localhost\r\n\r\n");
    expect([status, text]).toEqual([200, TIME]);
  });

  it("may be a name that the configuration allows", async () => {
    const own = await apiOfTest({ allowHost: ["exchange.test"] });
    const statusOf = async (host: string): Promise<number> =>
      (await replyTo(own.port, requestBytes("GET /clob/time", [`Host: ${host}`]))).status;
    expect(await statusOf("Exchange.Test:80")).toBe(200);
    expect(await statusOf("a.exchange.test")).toBe(403);
    expect(await statusOf("exchange.test.")).toBe(403);
  });
});

describe("the Origin header", () => {
  const FOREIGN = [
    ...["http://evil.example", "null", "", "http://localhost.evil.example"],
    ...["http://127.0.0.1.evil.example", "http://evil.example:80@localhost"],
    ...["https://localhost:3000/path", "http://localhost, http://evil.example", "file://"],
    ...["chrome-extension://localhost", "localhost", "http://192.0.2.1"],
  ];
  const OWN = ["http://localhost:3000", "https://localhost", "http://127.0.0.1:8080", "http://[::1]:3000"];

  it.each(FOREIGN)(
    `of another site is refused on /sim, and its page cannot read market data (${titleOf("H05")}): "%s"`,
    async (origin) => {
      for (const line of ["POST /sim/reset", "GET /sim/state", "POST /sim/clock", "GET /sim"]) {
        const headers = [HOST, `Origin: ${origin}`, "Content-Type: text/plain"];
        const refusal = await refusalTo(api, requestBytes(line, headers));
        expect(refusal).toMatchObject({ status: 403, code: "ORIGIN_NOT_ALLOWED" });
      }
      const bytes = requestBytes("GET /clob/time", [HOST, `Origin: ${origin}`]);
      const { status, headers } = await replyTo(api.port, bytes);
      expect([status, headers.get("vary")]).toEqual([200, ["origin"]]);
      expect([...headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);
    },
  );

  it.each(OWN)("of a page of this machine may read everything: %s", async (origin) => {
    for (const path of ["/clob/time", "/sim", "/nowhere", "/api/markets/none"]) {
      const { headers } = await api.send({ method: "GET", path, headers: { origin } });
      expect(headers).toMatchObject({ "access-control-allow-origin": origin, vary: "origin" });
      expect(headers["access-control-expose-headers"]).toContain("x-sim-warning");
      expect(headers["access-control-allow-credentials"]).toBeUndefined();
    }
  });

  it(titleOf("H07"), async () => {
    const asked = ["poly_address", "poly_api_key", "poly_passphrase", "poly_timestamp", "poly_signature"];
    const { status, headers, text } = await api.send({
      method: "OPTIONS",
      path: "/clob/order",
      headers: {
        origin: "http://localhost:3000",
        "access-control-request-method": "POST",
        "access-control-request-headers": [...asked, "content-type"].join(","),
      },
    });
    expect([status, text]).toEqual([204, ""]);
    expect(headers["access-control-allow-origin"]).toBe("http://localhost:3000");
    expect(headers["access-control-allow-methods"]?.split(", ")).toEqual(
      expect.arrayContaining(["POST", "DELETE"]),
    );
    const allowed = headers["access-control-allow-headers"]?.split(", ");
    expect(allowed).toEqual(expect.arrayContaining([...asked, "content-type"]));
  });

  it("of another site gets a preflight that allows nothing", async () => {
    const headers = { origin: "http://evil.example", "access-control-request-method": "POST" };
    const reply = await api.send({ method: "OPTIONS", path: "/sim/reset", headers });
    expect(reply.status).toBe(204);
    expect(Object.keys(reply.headers).filter((name) => name.startsWith("access-control-"))).toEqual([]);
  });
});

describe("the token of the control plane", () => {
  const TOKEN = "s3cret-token";
  const guarded = useApi({ simToken: TOKEN });

  const replyWith = (headers: Headers): Promise<RawReply> =>
    replyTo(guarded.port, requestBytes("GET /sim/state", [HOST, ...headerLines(headers)]));

  it(titleOf("H08"), async () => {
    const bytes = requestBytes("GET /sim/state");
    const reply = await replyTo(guarded.port, bytes);
    expect(refusalIn(reply)).toMatchObject({ status: 401, code: "SIM_TOKEN_REQUIRED" });
    expect(reply.headers.get("www-authenticate")).toEqual(["Bearer"]);
  });

  it("is accepted as a bearer token or in x-sim-token", async () => {
    expect((await replyWith({ authorization: `Bearer ${TOKEN}` })).status).toBe(200);
    expect((await replyWith({ authorization: `bearer ${TOKEN}` })).status).toBe(200);
    expect((await replyWith({ "x-sim-token": TOKEN })).status).toBe(200);
  });

  const WITHOUT = "an authorization header without Bearer";
  it.each<[string, Headers, string]>([
    ["missing", {}, "none"],
    ["empty", { "x-sim-token": "" }, "another one"],
    ["cut short", { "x-sim-token": TOKEN.slice(1) }, "another one"],
    ["in another case", { "x-sim-token": TOKEN.toUpperCase() }, "another one"],
    ["followed by more", { authorization: `Bearer ${TOKEN}x` }, "another one"],
    ["under another scheme", { authorization: `Basic ${TOKEN}` }, WITHOUT],
    ["without a scheme", { authorization: TOKEN }, WITHOUT],
    [
      "wrong in one of the two headers",
      { authorization: "Bearer wrong", "x-sim-token": TOKEN },
      "another one",
    ],
  ])("is refused when it is %s", async (_case, headers, found) => {
    const error = `the control plane needs its token, found ${found}`;
    expect(refusalIn(await replyWith(headers))).toMatchObject({ status: 401, error });
  });

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
