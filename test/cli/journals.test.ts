import { chmodSync, cpSync, existsSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { orThrow } from "../../src/client/result.ts";
import { DEFAULT_DATA } from "../../src/config.ts";
import { inspectorPage } from "../../src/inspector-page.ts";
import { VERSION } from "../../src/version.ts";
import { deriveTrader, type Trader } from "../server/trader.ts";
import { TestFolder } from "../support/folder.ts";
import { tokensOf, useApi, yesOf } from "../support/http.ts";
import { httpServer } from "../support/local-server.ts";
import { linesIn, type TextLine, withChecksums } from "./journal-lines.ts";
import { Shell } from "./shell.ts";
import { pairOn, runLine, serve, trade, tradeIn } from "./tools.ts";

const folder = new TestFolder();
const bytesOf = (name: string): Buffer => readFileSync(folder.at(name));
/** Returns the position of a line in a journal. */
const startOf = (bytes: Buffer, line: number): number => bytes.indexOf(`{"n":${line},`);

/** The slot for a report in a page of the inspector. */
const SLOT = /<script id="report" type="application\/gzip"(?: data-name="([^"]*)")?>([^<]*)<\/script>/;

const shell = new Shell(folder, {
  write: (name = "", text = "") => void folder.write(name, text),
  edit: (name = "", from = "", to = "") => void folder.write(name, folder.read(name).replace(from, to)),
  copy: (from = "", to = "") => void cpSync(folder.at(from), folder.at(to), { recursive: true }),
  move: (from = "", to = "") => void renameSync(folder.at(from), folder.at(to)),
  link: (to = "", name = "") => void symlinkSync(to, folder.at(name)),
  remove: (name = "") => void rmSync(folder.at(name)),
  chmod: (name = "", mode = "") => void chmodSync(folder.at(name), Number.parseInt(mode, 8)),
  exists: (name = "") => (existsSync(folder.at(name)) ? "yes" : "no"),
  same: (one = "", other = "") => (bytesOf(one).equals(bytesOf(other)) ? "yes" : "no"),
  /** Whether a file begins with the content of another. */
  begins: (long = "", short = "") => (bytesOf(long).indexOf(bytesOf(short)) === 0 ? "yes" : "no"),
  /** Changes a byte of a line. */
  flip: (name = "", line = "") => {
    const bytes = bytesOf(name);
    const at = startOf(bytes, Number(line)) + 30;
    return void folder.write(name, bytes.fill((bytes[at] as number) ^ 1, at, at + 1));
  },
  /** Cuts a journal after a number of lines and of bytes. */
  keep: (name = "", lines = "", more = "0") => {
    const bytes = bytesOf(name);
    return void folder.write(name, bytes.subarray(0, startOf(bytes, Number(lines) + 1) + Number(more)));
  },
  /** Writes the journal of a directory with valid checksums, and parts of the first line of a kind changed. */
  change: (name = "", kind = "", changes = "", data = "data") => {
    const lines = linesIn(folder.read(`${data}/journal.ndjson`));
    const index = lines.findIndex(({ k }) => k === kind);
    const line = merged(lines[index], JSON.parse(changes)) as TextLine;
    return void folder.write(name, withChecksums(lines.with(index, line)));
  },
  /** Writes the journal of `data` with valid checksums and one more line, by default with the data of the first one. */
  append: (name = "", k = "", d = "", more = "{}") => {
    const lines = linesIn(folder.read("data/journal.ndjson"));
    const added = d === "" ? lines[0]?.d : JSON.parse(d);
    const { t } = lines.at(-1) as TextLine;
    const line = { n: lines.length + 1, p: "00000000", s: 0, t, k, d: added, r: "00000000" };
    return void folder.write(name, withChecksums([...lines, { ...line, ...JSON.parse(more) }]));
  },
  /** Writes the report in a page beside it, and prints its name and whether the page is otherwise as built. */
  unpack: async (name = "") => {
    const page = folder.read(name);
    const [, report = "", content = ""] = SLOT.exec(page) ?? [];
    folder.write(`${name}.ndjson`, gunzipSync(Buffer.from(content, "base64")));
    const empty = page.replace(SLOT, '<script id="report" type="application/gzip"></script>');
    return `${report}${empty === (await inspectorPage()) ? "" : ", in another page"}`;
  },
  get: async (url = "") => (await fetch(url)).text(),
  /** Starts a server with a data directory or a state file. */
  open: async (path = "", reset = "") => {
    const named = path.endsWith(".json") ? { world: folder.at(path) } : { data: folder.at(path) };
    try {
      await (await serve({ ...named, reset: reset === "--reset" })).close();
      return "opened";
    } catch (error) {
      return (error as Error).message;
    }
  },
});

/** Returns a copy of JSON with the parts of another in their places. */
function merged(one: unknown, other: unknown): unknown {
  const areObjects = [one, other].every(
    (each) => typeof each === "object" && each !== null && !Array.isArray(each),
  );
  if (!areObjects) return other;
  const copy = new Map(Object.entries(one as object));
  for (const [key, value] of Object.entries(other as object)) copy.set(key, merged(copy.get(key), value));
  return Object.fromEntries(copy);
}

const guarded = useApi({ simToken: "open-sesame" });
let trader: Trader;
const closing: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closing) await close();
});

/** Sessions of Alice and Bob: in a stopped data directory with a report, and on a running server. */
beforeAll(async () => {
  for (const name of ["data", DEFAULT_DATA]) await tradeIn(folder.at(name));
  await (await serve({ data: folder.at("from-state"), world: folder.at("data/db.json") })).close();
  const [live, inMemory] = [await serve({ data: folder.at("live") }), await serve({})];
  for (const server of [live, inMemory]) {
    closing.push(() => server.close());
    await trade(server.url);
  }
  await runLine(["report", live.url, "--out", "bug.ndjson"], folder.path);
  shell.names.set("VERSION", VERSION).set("NODE", process.version.slice(1));
  shell.names
    .set("LIVE-URL", live.url)
    .set("IN-MEMORY", inMemory.url)
    .set("THIS-PROCESS", `process ${process.pid}`);
  trader = await deriveTrader(guarded, 1);
  const tokenId = await guarded.newToken({ slug: "rain" });
  await trader.place({ tokenId, side: "BUY", price: 0.5, size: 5 });
  shell.names.set("GUARDED", guarded.server.url);
  shell.names.set("CHAIN", join(process.cwd(), "fixtures/journals/fees-independent-books-and-expiry.ndjson"));
  shell.names.set("MARKUP", '"><script>alert(1)<&');
  shell.names.set("TWO-LINES", "two\nlines").set("LONG-NAME", "x".repeat(201));
});

/** Starts servers that answer all requests alike. */
beforeAll(async () => {
  const sim = { "x-sim-sequence": "1" };
  const missing = '{"code":"ROUTE_NOT_FOUND"}';
  const long = '{"code":"SESSION_TOO_LONG","error":"too long","hint":"reset it"}';
  for (const [name, status, headers, body] of [
    ["A-PAGE", 200, {}, "<html></html>"],
    ["A-SCENARIO", 200, {}, '{"scenario":"x"}'],
    ["A-NULL", 200, sim, "null"],
    ["NO-ROUTE", 404, {}, missing],
    ["AN-OLD-ONE", 404, sim, missing],
    ["A-LONG-SESSION", 409, sim, long],
  ] as const) {
    const server = await httpServer((_request, response) => response.writeHead(status, headers).end(body));
    closing.push(() => server.close());
    shell.names.set(name, server.url);
  }
});

const SLUG = "will-the-longest-of-all-slugs-be-printed-from-its-first-letter-to-its-last";
/** The API's explanation of Alice's bid. */
let story: unknown;

/** A session with ids of the API: Alice's bid, Bob's sale to it, their trade, and an undone order. */
beforeAll(async () => {
  const server = await serve({ data: folder.at("session") });
  const [alice, bob] = await pairOn(server.url);
  const market = orThrow(await alice.control.createMarket({ question: "Long?", slug: SLUG }));
  const old = orThrow(await alice.markets({ active: true })).data.find(({ slug }) => slug !== SLUG);
  const [token] = tokensOf(market);
  const bidOf = async (size: number, price: number, tokenId = token) =>
    orThrow(await alice.place({ tokenId, side: "BUY", size, price })).id;
  const bid = await bidOf(10, 0.4);
  const sale = orThrow(await bob.place({ tokenId: token, side: "SELL", size: 4, price: 0.4 })).id;
  await bidOf(5, 0.01, yesOf(old));
  orThrow(await alice.control.snapshot("here"));
  const undone = await bidOf(10, 0.3);
  orThrow(await alice.control.restore("here"));
  orThrow(await alice.cancel(bid));
  const trade = orThrow(await bob.trades()).data[0]?.id ?? "";
  story = orThrow(await alice.control.order(bid));
  for (const [name, value] of Object.entries({
    ...{ "UPPER-CASE-OF-BID": bid.toUpperCase(), BID: bid, SALE: sale, UNDONE: undone, TRADE: trade },
    ...{ "UPPER-CASE-OF-MARKET": market.id.toUpperCase(), MARKET: market.id },
    ...{ "PART-OF-IT": token.slice(0, 20), "YES-TOKEN": token, ALICE: alice.credentials?.address ?? "" },
    ...{ "BEGINNING-OF-SLUG": SLUG.slice(0, -1), "MISSPELT-SLUG": SLUG.replace("longest", "lungest"), SLUG },
  }))
    shell.names.set(name, value);
  for (const client of [alice, bob]) client.close();
  await server.close();
});

it.each(["journals.txt", "valid-checksums.txt"])(
  "the commands that read journals print what %s shows",
  async (page) => {
    await shell.expectPage(join(import.meta.dirname, page));
  },
);

it("a line that goes back is refused in another format than clobsim writes", async () => {
  await shell.run('append restored.ndjson restore {"line":3}');
  const lines = linesIn(folder.read("restored.ndjson"));
  const last = JSON.stringify(lines.at(-1)).slice(0, -1).replace('"k":', '"k": ');
  folder.write("restored.ndjson", withChecksums([...lines.slice(0, -1), last]));
  expect((await shell.run("replay restored.ndjson")).join("\n")).toContain(
    "d.line: expected an earlier line, formatted as clobsim writes it, found 3",
  );
});

it("clobsim inspect --order has the API's explanation of an order, by its id in either case and its number", async () => {
  const explained = async (order: string) =>
    (await runLine(["inspect", "session", "--json", "--order", order], folder.path)).stdout;
  const text = await explained(shell.names.get("UPPER-CASE-OF-BID") ?? "");
  const { number, lines: _, line: __, time: ___, sequence: ____, ...explanation } = JSON.parse(text);
  expect(explanation).toEqual(story);
  expect(await explained(String(number))).toBe(text);
});

it("clobsim inspect --account accepts the name that scenarios have for a dev account", async () => {
  const { url, devAccounts, close } = await serve({ data: folder.at("funded") });
  const address = devAccounts[1]?.address ?? "";
  await fetch(`${url}/sim/accounts/${address}/credentials`, { method: "POST" });
  await close();
  const inspected = (account: string) =>
    runLine(["inspect", "funded", "--json", "--account", account], folder.path);
  expect((await inspected("dev-1")).stdout).toContain(address.toLowerCase());
  expect(await inspected("dev-1")).toEqual(await inspected(address));
});

it("clobsim record prints the scenario of the API, and nothing else", async () => {
  const { scenario } = await guarded.get<{ scenario: string }>("/sim/scenario");
  const args = ["record", "--url", guarded.server.url, "--sim-token", "open-sesame"];
  expect(await runLine(args, folder.path)).toEqual({ code: 0, stdout: scenario, stderr: "" });
});

it("clobsim report has no secret", async () => {
  await shell.run("report --url GUARDED --sim-token open-sesame --out guarded.ndjson");
  const text = folder.read("guarded.ndjson");
  expect(text).toContain(trader.address.toLowerCase());
  for (const secret of [...Object.values(trader.credentials), "open-sesame"])
    expect(text).not.toContain(secret);
});
