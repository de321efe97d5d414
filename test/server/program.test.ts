import { execFileSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { orThrow } from "../../src/client/result.ts";
import type { Header } from "../../src/client/transport.ts";
import { clientOn, firstMarket } from "../cli/tools.ts";
import { TINY_WORLD, yesOf } from "../support/http.ts";
import { freePort } from "../support/local-server.ts";
import { type Ended, type Served, useProgram } from "../support/program.ts";
import { titleOf } from "./bad-inputs.ts";
import { HOST, refusalIn, replyTo, requestBytes } from "./raw-socket.ts";
import type { Market, Refusal } from "./replies.ts";

const program = await useProgram(["--ephemeral", "--world", TINY_WORLD]);

/** Requests without and with a warning, and with an error of the control plane. */
const WARNED = ["/clob/time", "/api/markets?limt=1&%0ab=SECRET&limit=1000", "/sim?zebra=1"];

const logOf = ({ stderr }: Ended): Record<string, unknown>[] =>
  stderr
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));

describe("the log", () => {
  /** Sends valid and invalid requests, and returns every secret used. */
  async function session({ url, port }: Served): Promise<string[]> {
    const client = await clientOn(url, "1");
    const { apiKey: _, address: __, ...secrets } = client.credentials ?? expect.fail("no credentials");
    const { secret, passphrase } = secrets;
    const signatures: string[] = [];
    const statusOf = async (method: string, path: string, body?: object | string): Promise<number> => {
      const headers = (made: readonly Header[]): readonly Header[] => {
        signatures.push(...made.flatMap(([name, value]) => (name === "poly_signature" ? [value] : [])));
        return made;
      };
      const sent = { method, path, signed: true, headers, ...(body !== undefined && { body }) };
      return orThrow(await client.send(sent)).status;
    };
    const { tokenId } = await firstMarket(client);
    const { id } = orThrow(await client.place({ tokenId, side: "BUY", price: 0.01, size: 5 }));
    expect(await statusOf("DELETE", "/clob/order", { orderId: id })).toBe(200);
    expect(await statusOf("POST", "/clob/order", "{")).toBe(400);
    expect(await statusOf("GET", `/clob/orders/${secret.slice(0, 4)}`)).toBe(404);
    const queried = `${url}/clob/orders?poly_passphrase=${passphrase}&poly_signature=${secret}`;
    expect((await fetch(queried)).status).toBe(401);
    const bytes = requestBytes("GET /clob/orders", [HOST, `poly_passphrase: ${passphrase}`, "X\0: broken"]);
    expect((await replyTo(port, bytes)).status).toBe(400);
    client.close();
    return [...Object.values(secrets), ...signatures];
  }

  it(`${titleOf("A27")}; ${titleOf("H13")}`, async () => {
    const server = await program.serve(["--log-level", "trace", "--clock", "frozen"]);
    const secrets = await session(server);
    const named = await replyTo(server.port, requestBytes("GET /api/markets/x%0a%1b[31mFAKE"));
    expect([named.status, (JSON.parse(named.text) as Refusal).code]).toEqual([404, "MARKET_NOT_FOUND"]);
    // Node's HTTP parser rejects a control character in a header before the request reaches a handler.
    const agent = requestBytes("GET /api/markets/x", [HOST, "User-Agent: \x1b[2J"]);
    expect((await replyTo(server.port, agent)).status).toBe(400);
    const ended = await server.end("SIGTERM");
    expect(ended.code).toBe(0);
    for (const secret of secrets) expect(ended.stdout + ended.stderr).not.toContain(secret);
    expect(ended.stdout + ended.stderr).not.toContain("poly_signature");
    const lines = logOf(ended).slice(-2);
    expect(lines.map(({ status, code }) => [status, code])).toEqual([
      [404, "MARKET_NOT_FOUND"],
      [400, "INVALID_HTTP"],
    ]);
    expect(lines[0]?.path).toBe("/api/markets/x%0a%1b[31mFAKE");
    expect([...ended.stderr].filter((character) => character < " " && character !== "\n")).toEqual([]);
  });

  it("has one line per request, without queries, headers and bodies, with its warning at the level warn, also when the process exits without closing the server", async () => {
    const exitOnSignal = "data:text/javascript,process.on('SIGUSR2', () => process.exit(7))";
    const server = await program.serve(["--clock", "frozen"], { flags: ["--import", exitOnSignal] });
    const paths = ["/clob/time?a=SECRET", "/clob/book", "/nowhere/%00", "/api/markets/%zz", ...WARNED];
    for (const path of paths) await replyTo(server.port, requestBytes(`GET ${path}`, [HOST, "X-Y: SECRET"]));
    const ended = await server.end("SIGUSR2");
    expect(ended.code).toBe(7);
    const lines = logOf(ended).map(({ level, path, status, code, warning }) => [
      level,
      path,
      status,
      code ?? warning,
    ]);
    const warning =
      'unknown field "limt", did you mean "limit"?; unknown field "\\nb"; limit 1000 is above the maximum: 100 is used';
    expect(lines).toEqual([
      [40, "/clob/time", 200, 'unknown field "a"'],
      [30, "/clob/book", 400, "TOKEN_ID_REQUIRED"],
      [30, "/nowhere/%00", 404, "ROUTE_NOT_FOUND"],
      [30, "/api/markets/%zz", 400, "INVALID_PARAMETER"],
      [30, "/clob/time", 200, undefined],
      [40, "/api/markets", 200, warning],
      [30, "/sim", 400, "INVALID_PARAMETER"],
    ]);
    expect(ended.stderr).not.toContain("SECRET");
  });
});

it("the log has one line at the level error when the disk is full, with what to do as in the answers", async () => {
  const fillOnSignal = `data:text/javascript,${encodeURIComponent(`
    import fs from "node:fs";
    import { syncBuiltinESMExports } from "node:module";
    process.on("SIGUSR2", () => {
      fs.writeSync = () => { throw Object.assign(new Error("ENOSPC: no space"), { code: "ENOSPC", syscall: "write" }); };
      syncBuiltinESMExports();
    });`)}`;

  const server = await program.serve(
    ["--log-level", "error", "--clock", "frozen", "--data", "full", "--ephemeral", "false"],
    {
      flags: ["--import", fillOnSignal],
    },
  );
  const derive = (): Promise<Response> => {
    const path = `/sim/accounts/0x${"1".repeat(40)}/credentials`;
    return fetch(`${server.url}${path}`, { method: "POST" });
  };
  expect((await derive()).status).toBe(200);
  for (const path of WARNED) await replyTo(server.port, requestBytes(`GET ${path}`));
  process.kill(server.pid, "SIGUSR2");
  while ((await derive()).status !== 503);
  const { hint } = (await (await derive()).json()) as Refusal;
  const ended = await server.end("SIGTERM");
  expect(ended.code).toBe(4);
  const msg = `the journal cannot be written: ENOSPC: no space; ${hint}`;
  expect(logOf(ended)).toMatchObject([{ level: 50, msg }]);
});

it("a log line of an exchange in a pool has the full path", async () => {
  const server = await program.serve(["--pool", "2", "--clock", "frozen"]);
  for (const path of ["/2/clob/time", "/clob/time", "/1/nowhere"]) {
    await replyTo(server.port, requestBytes(`GET ${path}`));
  }
  const ended = await server.end("SIGTERM");
  const others = ended.stderr.split("\n").filter((line) => line !== "" && !line.startsWith("{"));
  expect(others).toEqual(["clobsim: stopping"]);
  const logged = logOf(ended).map(({ path, status, requestId }) => `${path} ${status} ${requestId}`);
  expect(logged).toEqual(["/2/clob/time 200 req-1", "/clob/time 404 req-1", "/1/nowhere 404 req-1"]);
});

describe("the program", () => {
  it("that listens on all addresses accepts IP addresses as host, and no names, because of DNS rebinding, and logs only warnings at the level warn", async () => {
    const token = ["--sim-token", "s3cret"];
    const server = await program.serve(["--host", "0.0.0.0", ...token, "--log-level", "warn"]);
    const statusOf = async (path: string, host: string): Promise<number> =>
      (await replyTo(server.port, requestBytes(`GET ${path}`, [`Host: ${host}`]))).status;
    expect(await statusOf("/clob/time", "192.0.2.1:80")).toBe(200);
    expect(await statusOf("/clob/time", "[2001:db8::1]")).toBe(200);
    expect(await statusOf("/clob/time", "evil.example")).toBe(403);
    expect(await statusOf("/sim", "localhost")).toBe(401);
    for (const path of WARNED) await statusOf(path, "localhost");
    expect(logOf(await server.end("SIGTERM")).map(({ level }) => level)).toEqual([40]);
  });

  let silent: Served;
  beforeAll(async () => {
    silent = await program.serve(["--log-level", "silent"]);
  });

  const residentKib = (pid: number): number =>
    Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" }));

  it("needs no memory for a small body that would inflate to 50 MB (O17, too)", async () => {
    const zipped = gzipSync(Buffer.alloc(50_000_000));
    const headers = { "content-type": "application/json", "content-encoding": "gzip" };
    const post = async (): Promise<number> => {
      const reply = await fetch(`${silent.url}/clob/order`, { method: "POST", headers, body: zipped });
      await reply.text();
      return reply.status;
    };
    expect(zipped.length).toBeLessThan(50_000);
    expect(await post()).toBe(415);
    const before = residentKib(silent.pid);
    for (let count = 0; count < 5; count += 1) expect(await post()).toBe(415);
    expect(residentKib(silent.pid) - before).toBeLessThan(10 * 1024);
  });
});

it("the output of the program may be a closed pipe, and requests with unknown fields are refused if the environment says so", async () => {
  const port = await freePort();
  const environment = { ...process.env, CLOBSIM_UNKNOWN_FIELDS: "refuse" };
  const args = ["serve", "--port", String(port), "--ephemeral"];
  const { end } = program.launch(args, { unread: "stdout", environment });
  while ((await fetch(`http://127.0.0.1:${port}/sim`).catch(() => null)) === null) await sleep(20);
  const reply = await replyTo(port, requestBytes("GET /clob/time?zebra=1"));
  expect(refusalIn(reply)).toMatchObject({ status: 400, code: "INVALID_PARAMETER" });
  expect(await end("SIGTERM")).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("clobsim: stopping\n"),
  });
});

const ENVIRONMENTS = [
  { LANG: "C", LC_ALL: "C", TZ: "UTC" },
  { LANG: "tr_TR.UTF-8", LC_ALL: "tr_TR.UTF-8", TZ: "Pacific/Kiritimati" },
  { LANG: "sv_SE.UTF-8", LC_ALL: "sv_SE.UTF-8", TZ: "America/New_York" },
] as const;

const EXPIRATIONS = [
  ...["2026-02-30T00:00:00Z", "foo 2026", "2026-1-1", "2026-01-01T00:00:00", "Jan 1 2026", "1"],
  ...["2026-01-01T00:00:00-05:00"],
];

/** The replies of a server to a fixed list of requests, as text. */
async function answersOf({ url }: Served): Promise<string[]> {
  const client = await clientOn(url, "1");
  const answers = [JSON.stringify(client.credentials)];
  const ask = async (path: string, body?: object): Promise<string> => {
    const isOrder = path === "/clob/order";
    const sent = { method: body ? "POST" : "GET", path, signed: isOrder, ...(body && { body }) };
    const { status, text } = orThrow(await client.send(sent));
    answers.push(`${status} ${path} ${text}`);
    return text;
  };
  for (const title of ["İSTANBUL derby", "Hauptstraße flooded", "Zürich, ångström and ı"]) {
    await ask("/sim/events", { title });
  }
  const question = { question: "Will it rain in İstanbul?", endDate: "2026-03-01T12:00:00+03:00" };
  const market = JSON.parse(await ask("/sim/markets", question)) as Market;
  for (const q of ["İSTANBUL", "straße", "ISTANBUL", "ıstanbul", "ångström", "i"]) {
    await ask(`/api/search?q=${encodeURIComponent(q)}`);
  }
  const order = { tokenId: yesOf(market), side: "BUY", price: 0.5, size: 5, orderType: "GTD" };
  for (const expiration of EXPIRATIONS) await ask("/clob/order", { ...order, expiration });
  for (const path of ["/api/markets?sort=endDate", "/api/events", "/sim/state", "/sim/orders/none"])
    await ask(path);
  client.close();
  return answers;
}

it(`${titleOf("Q08")}; and the expirations of O09`, async () => {
  const all = await Promise.all(
    ENVIRONMENTS.map(async (environment) => {
      const server = await program.serve(["--clock", "frozen", "--log-level", "silent"], { environment });
      const answers = await answersOf(server);
      await server.end("SIGTERM");
      return answers;
    }),
  );
  const [first = [], ...others] = all;
  for (const other of others) expect(other).toEqual(first);
  const found = (q: string): string =>
    first.find((answer) => answer.includes(`?q=${encodeURIComponent(q)} `)) ?? "";
  expect(found("İSTANBUL")).toContain("İSTANBUL derby");
  expect(found("straße")).toContain('"total":0');
  const codes = first
    .filter((answer) => answer.includes(" /clob/order "))
    .map((answer) => (JSON.parse(answer.slice(answer.indexOf("{"))) as Refusal).code ?? "placed");
  expect(codes).toEqual([...Array(5).fill("INVALID_EXPIRATION"), "EXPIRATION_IN_PAST", "placed"]);
});
