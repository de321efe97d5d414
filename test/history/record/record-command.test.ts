import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import { runCommand } from "../../../src/cli/command-line.ts";
import { deriveTrader } from "../../server/trader.ts";
import { useApi } from "../../support/http.ts";

const folder = mkdtempSync(join(tmpdir(), "clobsim-record-"));
const TOKEN = "open-sesame";
const api = useApi({ simToken: TOKEN });
const others: Server[] = [];

beforeAll(async () => {
  const market = await api.createMarket({ slug: "rain" });
  const alice = await deriveTrader(api, 1);
  await alice.place({ tokenId: market.tokens[0]?.tokenId, side: "BUY", price: 0.5, size: 5 });
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  for (const server of others) server.close();
  await api.close();
});

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `clobsim record` with flags and variables; what it throws is thrown. */
async function record(flags: Readonly<Record<string, string>>, environment = {}): Promise<Ran> {
  const printed = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const) {
    vi.spyOn(process[stream], "write").mockImplementation((text) => {
      printed[stream] += String(text);
      return true;
    });
  }
  const given = Object.fromEntries(Object.entries(flags).map(([name, text]) => [name, [text]]));
  const server = "from" in flags ? {} : { url: [api.server.url] };
  const code = await runCommand("record", { flags: { ...server, ...given }, environment }, []);
  return { code, ...printed };
}

/** The origin of a server that answers everything alike. */
async function answering(status: number, headers: Record<string, string>, body: string): Promise<string> {
  const server = createServer((_request, response) => response.writeHead(status, headers).end(body));
  others.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it("prints the session of a running exchange as a scenario, and nothing else", async () => {
  const { code, stdout, stderr } = await record({ "sim-token": TOKEN });
  expect(code).toBe(0);
  expect(stdout).toBe((await api.get<{ scenario: string }>("/sim/scenario")).scenario);
  expect(stderr).toBe("");
});

it("names the exchange by --url, and by --from as `clobsim report` once did, but not by both", async () => {
  const { stdout } = await record({ "sim-token": TOKEN });
  expect((await record({ from: api.server.url, "sim-token": TOKEN })).stdout).toBe(stdout);
  const both = runCommand(
    "record",
    { flags: { url: ["http://h"], from: ["http://h"] }, environment: {} },
    [],
  );
  await expect(both).rejects.toThrow("--from is another name of --url: give one of them");
});

it("writes it to a file under a name, and says what it tells", async () => {
  const out = join(folder, "bug.yaml");
  const { stdout, stderr } = await record({ out, name: "a bid: alone" }, { CLOBSIM_SIM_TOKEN: TOKEN });
  expect(stdout).toBe("");
  expect(stderr).toBe(`clobsim: recorded 1 order and 0 trades in ${out}\n`);
  expect(readFileSync(out, "utf8")).toContain('scenario: "a bid: alone"\n');
});

it("says in one sentence why it could not", async () => {
  const url = api.server.url;
  await expect(record({})).rejects.toThrow(
    `the clobsim at ${url} requires its token: give it as --sim-token or CLOBSIM_SIM_TOKEN`,
  );
  await expect(record({ "sim-token": "guess" })).rejects.toThrow(
    `the clobsim at ${url} has another token: --sim-token expects the one that it was started with`,
  );
  await expect(record({ "sim-token": TOKEN, out: folder })).rejects.toThrow(
    `--out expects a file that can be written, found ${folder} (EISDIR)`,
  );
  const free = await answering(200, {}, "");
  await new Promise((resolve) => others.pop()?.close(resolve));
  await expect(record({ url: free })).rejects.toThrow(
    `nothing answers at ${free} (ECONNREFUSED): is clobsim serve running there?`,
  );
});

it("reports a server that is not clobsim, one that is too old, and one that refuses", async () => {
  const sim = { "x-sim-sequence": "1" };
  for (const [status, headers, body] of [
    [200, {}, "<html></html>"],
    [200, {}, '{"scenario":"x"}'],
    [200, sim, "null"],
    [404, {}, '{"code":"ROUTE_NOT_FOUND"}'],
  ] as const) {
    const url = await answering(status, headers, body);
    await expect(record({ url })).rejects.toThrow(`the server at ${url} is not clobsim`);
  }
  const old = await answering(404, sim, '{"code":"ROUTE_NOT_FOUND"}');
  await expect(record({ url: old })).rejects.toThrow(
    `the clobsim at ${old} is too old to record its sessions`,
  );
  const long = await answering(409, sim, '{"code":"SESSION_TOO_LONG","error":"too long","hint":"reset it"}');
  await expect(record({ url: long })).rejects.toThrow(
    `the clobsim at ${long} cannot record its sessions: too long (reset it)`,
  );
});

it.each([
  ["url", "127.0.0.1:7070"],
  ["url", "ftp://127.0.0.1"],
  ["url", "http://127.0.0.1:7070/sim"],
  ["url", ""],
  ["from", "127.0.0.1:7070"],
  ["out", ""],
  ["name", ""],
  ["name", " "],
  ["name", "two\nlines"],
  ["name", "x".repeat(201)],
])("refuses --%s %j", async (flag, text) => {
  await expect(record({ [flag]: text })).rejects.toThrow(new RegExp(`^--${flag} expects `));
});
