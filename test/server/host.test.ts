import { describe, expect, it } from "vitest";
import { apiOfTest, T0, useApi } from "../support/http.ts";
import { codeOf, titleOf } from "./bad-inputs.ts";
import { refusalIn, refusalTo, replyTo, requestBytes } from "./raw-socket.ts";
import type { Refusal } from "./replies.ts";

const api = useApi();

const TIME = JSON.stringify({ time: T0 });

async function textFor(line: string, headers: readonly string[]): Promise<string> {
  const { status, text } = await replyTo(api.port, requestBytes(line, headers));
  expect(status, `${line} ${headers.join()} ${text}`).toBe(200);
  return text;
}

const refusalFor = (line: string, headers: readonly string[]): Promise<Refusal> =>
  refusalTo(api, requestBytes(line, headers));

describe("the Host header", () => {
  it(titleOf("H01"), async () => {
    const lines = [
      ...["GET /api/markets", "GET /clob/time", "GET /sim/state", "POST /sim/reset", "POST /rpc"],
      ...["GET /nowhere", "GET /openapi.json", "OPTIONS /clob/order", "DELETE /clob/orders/all"],
    ];
    for (const line of lines) {
      const { code } = await refusalFor(line, ["Host: evil.example"]);
      expect(code, line).toBe(codeOf("H01"));
    }
  });

  it(titleOf("H02"), async () => {
    const { port } = api;
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`, `LOCALHOST:${port}`]) {
      expect(await textFor("GET /clob/time", [`Host: ${host}`])).toBe(TIME);
    }
  });

  it.each([
    ...["localhost", "127.0.0.1", "[::1]", "127.0.0.2", "localhost:99999", "localhost:0"],
    ...[" \tlocalhost \t"],
  ])("may name this machine with any port or none: %s", async (host) => {
    expect(await textFor("GET /clob/time", [`Host: ${host}`])).toBe(TIME);
  });

  it.each([
    ...["", "localhost.evil.example", "evil.example:80", "127.0.0.1.evil.example", "user@localhost"],
    ...["localhost:", "localhost:80:80", "localhost:123456", "localhost:abc", "localhost/"],
    ...["localhost#", "localhost, evil.example", "localhost evil.example", "xlocalhost", "127.1"],
    ...["2130706433", "0x7f.0.0.1", "0177.0.0.1", "0.0.0.0", "::1", "[::1", "[::]"],
    ...["[::ffff:127.0.0.1]", "192.0.2.1", "lоcalhost"],
  ])('is refused if it is not a name of this machine: "%s"', async (host) => {
    const bytes = Buffer.from(host).toString("latin1");
    const { status, code } = await refusalFor("GET /clob/time", [`Host: ${bytes}`]);
    expect([status, code]).toEqual([403, "HOST_NOT_ALLOWED"]);
  });

  it.each([
    ["missing", []],
    ["given twice", ["Host: localhost", "Host: localhost"]],
    ["given twice, in another case", ["Host: localhost", "HOST: evil.example"]],
  ])("is refused when %s", async (_case, headers) => {
    const refusal = await refusalFor("GET /clob/time", headers);
    expect(refusal).toMatchObject({ status: 403, code: "HOST_NOT_ALLOWED" });
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

describe("an absolute target", () => {
  it.each(["http://localhost/clob/time", "http://127.0.0.1:1/clob/time", "HTTPS://[::1]/clob/time?x"])(
    "of this machine is reduced to its path: %s",
    async (target) => {
      expect(await textFor(`GET ${target}`, ["Host: localhost"])).toBe(TIME);
    },
  );

  it.each([
    ["http://evil.example/clob/time", "localhost"],
    ["http://localhost/clob/time", "evil.example"],
    ["http://localhost@evil.example/clob/time", "localhost"],
    ["http://evil.example@localhost/clob/time", "localhost"],
    ["http:///clob/time", "localhost"],
    ["ftp://localhost/clob/time", "localhost"],
    ["*", "localhost"],
  ])("of another host is refused: %s with Host %s", async (target, host) => {
    const refusal = await refusalFor(`GET ${target}`, [`Host: ${host}`]);
    expect(refusal).toMatchObject({ status: 403, code: "HOST_NOT_ALLOWED" });
  });

  it("without a path or with a double slash has no route", async () => {
    for (const target of ["http://localhost", "http://localhost?x=1", "http://localhost//clob/time"]) {
      expect((await refusalFor(`GET ${target}`, ["Host: localhost"])).code).toBe("ROUTE_NOT_FOUND");
    }
  });
});
