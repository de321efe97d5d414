import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { deriveTrader } from "../server/trader.ts";
import { temporaryFolder } from "../support/folder.ts";
import { useApi } from "../support/http.ts";
import { freePort, httpServer, type LocalServer } from "../support/local-server.ts";
import { type CommandResult, refused, run, says } from "./tools.ts";

const folder = temporaryFolder();
const TOKEN = "open-sesame";
const api = useApi({ simToken: TOKEN });
const fakes: LocalServer[] = [];

beforeAll(async () => {
  const market = await api.createMarket({ slug: "rain" });
  const alice = await deriveTrader(api, 1);
  await alice.place({ tokenId: market.tokens[0]?.tokenId, side: "BUY", price: 0.5, size: 5 });
});
afterAll(async () => {
  for (const server of fakes) server.close();
  await api.close();
});

/** Runs `clobsim record` on the server, unless flags name another. */
const record = (flags: Readonly<Record<string, string>>, environment = {}): Promise<CommandResult> =>
  run("record", [], { ...("from" in flags ? {} : { url: api.server.url }), ...flags }, environment);

/** Starts a server with one response for all requests, and returns its origin. */
async function fakeServer(status: number, headers: Record<string, string>, body: string): Promise<string> {
  const server = await httpServer((_request, response) => response.writeHead(status, headers).end(body));
  fakes.push(server);
  return server.url;
}

describe("clobsim record of a server", () => {
  it("prints the session as a scenario, and nothing else", async () => {
    const { scenario } = await api.get<{ scenario: string }>("/sim/scenario");
    expect(await record({ "sim-token": TOKEN })).toEqual({ code: 0, stdout: scenario, stderr: "" });
  });

  it("takes the URL from --url or --from, but not from both", async () => {
    const { stdout } = await record({ "sim-token": TOKEN });
    expect((await record({ from: api.server.url, "sim-token": TOKEN })).stdout).toBe(stdout);
    const both = await run("record", [], { url: "http://h", from: "http://h" });
    expect(both.stderr).toContain("--from is another name of --url: give one of them");
  });

  it("writes a named scenario to a file, and reports the counts", async () => {
    const out = join(folder, "bug.yaml");
    const { stdout, stderr } = await record({ out, name: "a bid: alone" }, { CLOBSIM_SIM_TOKEN: TOKEN });
    expect(stdout).toBe("");
    expect(stderr).toBe(`clobsim: recorded 1 order and 0 trades in ${out}\n`);
    expect(readFileSync(out, "utf8")).toContain('scenario: "a bid: alone"\n');
  });

  it("explains a wrong token, file or server", async () => {
    const url = api.server.url;
    const free = `http://127.0.0.1:${await freePort()}`;
    const token = { "sim-token": TOKEN };
    const other = `the clobsim at ${url} has another token: --sim-token expects the one that it was started with`;
    for (const [flags, message] of [
      [{}, `the clobsim at ${url} requires its token: give it as --sim-token or CLOBSIM_SIM_TOKEN`],
      [{ "sim-token": "guess" }, other],
      [{ ...token, out: folder }, `--out expects a file that can be written, found ${folder} (EISDIR)`],
      [{ ...token, url: `${url}/3` }, `the clobsim at ${url} has no pool: leave out /3\n`],
      [{ url: free }, `nothing answers at ${free} (ECONNREFUSED): is clobsim serve running there?`],
    ] as const) {
      expect((await record(flags)).stderr).toContain(message);
    }
  });

  it("reports a server that is not clobsim, is too old, or refuses", async () => {
    const sim = { "x-sim-sequence": "1" };
    const notFound = '{"code":"ROUTE_NOT_FOUND"}';
    const tooLong = '{"code":"SESSION_TOO_LONG","error":"too long","hint":"reset it"}';
    for (const [status, headers, body, message] of [
      [200, {}, "<html></html>", "the server at URL is not clobsim"],
      [200, {}, '{"scenario":"x"}', "the server at URL is not clobsim"],
      [200, sim, "null", "the server at URL is not clobsim"],
      [404, {}, notFound, "the server at URL is not clobsim"],
      [404, sim, notFound, "the clobsim at URL is too old to record its sessions"],
      [409, sim, tooLong, "the clobsim at URL cannot record its sessions: too long (reset it)"],
    ] as const) {
      const url = await fakeServer(status, headers, body);
      expect((await record({ url })).stderr).toContain(message.replace("URL", url));
    }
  });

  it.each([
    ["url", ["127.0.0.1:7070", "ftp://127.0.0.1", "http://127.0.0.1:7070/sim", ""]],
    ["from", ["127.0.0.1:7070"]],
    ["out", [""]],
    ["name", ["", " ", "two\nlines", "x".repeat(201)]],
  ])("refuses --%s %j", async (flag, texts) => {
    const error = says(new RegExp(`^clobsim: --${flag} expects `));
    for (const text of texts) expect(await record({ [flag]: text }), text).toEqual(refused(error));
  });
});
