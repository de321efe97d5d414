import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { ExchangeClient, walletOf } from "../../../src/client/client.ts";
import type { NewOrder } from "../../../src/client/connection.ts";
import { orThrow } from "../../../src/client/result.ts";
import { type RunningServer, serveWorld } from "../../../src/compose.ts";
import { DEFAULT_CONFIG } from "../../../src/config.ts";
import { controlNeedOf, stepsOf } from "../../../src/scenario/language/steps.ts";
import { findFiles } from "../../../src/scenario/run/files.ts";
import type { ScenarioResult } from "../../../src/scenario/run/result.ts";
import { targetAt } from "../../../src/scenario/venue/target-venue.ts";
import { ConfigError } from "../../../src/setting.ts";
import { readWorld } from "../../../src/simulation/world.ts";
import { namedPrivateKey } from "../../../src/simulation/world-accounts.ts";
import { TINY_WORLD, yesOf } from "../../support/http.ts";
import { httpServer } from "../../support/local-server.ts";
import { pageWith } from "../../support/page.ts";
import { diffOf, ScenarioFolder, scenarioAt } from "../run/scenario-folder.ts";

const folder = new ScenarioFolder();

/** Required for /sim, so that requests of a scenario to it are refused. */
const SIM_TOKEN = "of-the-operators-alone";
const ENVIRONMENT = {
  ALICE_KEY: namedPrivateKey("alice of the deployment"),
  BOB_KEY: namedPrivateKey("bob of the deployment"),
};
const ACCOUNTS = `accounts:
  alice: { privateKey: $ALICE_KEY, USDC: 1000 }
  bob: { privateKey: $BOB_KEY, YES: 500, USDC: 5.5 }
`;

let server: RunningServer;
let operator: ExchangeClient;
let markets = 0;

beforeAll(async () => {
  const world = readWorld(await readFile(TINY_WORLD, "utf8"));
  const quiet = { port: 0, logLevel: "silent", settlement: "manual" } as const;
  const config = { ...DEFAULT_CONFIG, ...quiet, simToken: SIM_TOKEN };
  server = (await serveWorld(config, world)).server;
  operator = new ExchangeClient(server.url, { simToken: SIM_TOKEN });
});

afterAll(() => server.close());

/** Creates a market without trades on the deployment, and returns its slug. */
async function newMarket(terms: { readonly selfTrade?: "cancel-taker" } = {}): Promise<string> {
  markets += 1;
  const texts = { description: "", category: "test", tags: [] };
  const slug = `deployed-${markets}`;
  const event = orThrow(await operator.control.createEvent({ title: slug, slug, ...texts }));
  orThrow(
    await operator.control.createMarket({ eventId: event.id, question: slug, slug, ...texts, ...terms }),
  );
  return slug;
}

/** Runs a scenario on the deployment with these wallets. */
async function runThere(text: string, wallets: string, repeat = 1) {
  const file = folder.write("wallets.yaml", wallets);
  const target = await targetAt(server.url, file, ENVIRONMENT);
  return folder.run(text, { target, repeat });
}

const yesIn = async (slug: string) => yesOf(orThrow(await operator.market(slug)));
const bidsIn = async (slug: string) => orThrow(await operator.book(await yesIn(slug))).bids;

/** Places an order for YES with a client that no scenario has. */
async function placeApart(key: string, slug: string, order: Pick<NewOrder, "side" | "price" | "size">) {
  const client = new ExchangeClient(server.url, { account: await walletOf(key), time: "server" });
  orThrow(await client.derive());
  orThrow(await client.place({ tokenId: await yesIn(slug), ...order }));
  client.close();
}

const RESTS = `scenario: a bid rests
accounts: { alice: { USDC: 10 } }
steps:
  - alice: BUY 10 YES @ 0.10 as bid
  - expect: { book: { YES: { bids: [0.10 x 10] } } }
`;

const walletsFor = (slug: string): string => `markets: { market: ${slug} }\n${ACCOUNTS}`;

/** Returns how a scenario on a deployment ends. */
function endOf({ status, reason, failure, steps }: ScenarioResult): string[] {
  if (failure === null) return [reason === null ? `${status} after ${steps} steps` : `${status}: ${reason}`];
  return [`line ${failure.place.line}, step ${failure.step}: ${failure.message}`, ...diffOf(failure)];
}

/** Does in a market what a comment of a scenario says. */
async function prepare(slug: string, comments: string): Promise<void> {
  const [, size, price] = /^# A stranger sells (\S+) YES @ (\S+)$/m.exec(comments) ?? [];
  const order = { side: "SELL", price: Number(price), size: Number(size) } as const;
  if (price !== undefined) await placeApart(namedPrivateKey("a stranger"), slug, order);
  if (/^# The market is closed$/m.test(comments))
    orThrow(await operator.control.close(orThrow(await operator.market(slug)).id));
}

describe("a scenario on a deployment", () => {
  it("ends as its page says, and leaves no resting orders", async () => {
    folder.write("flow.csv", "at,account,op,ref,side,outcome,price,size,type\n0,alice,fund,,,USDC,,1,\n");
    folder.write("tiny.json", await readFile(TINY_WORLD, "utf8"));
    const page = readFileSync(new URL("deployed.txt", import.meta.url), "utf8");
    const written = await pageWith(page, async ({ opening, text }) => {
      const [selfTrade] = /(?<=^market: .*selfTrade: )cancel-taker/m.exec(opening) ?? [];
      const slug = await newMarket(selfTrade === undefined ? {} : { selfTrade: "cancel-taker" });
      await prepare(slug, text);
      const [markets = "markets: { market: deployed-1 }"] = /(?<=^# )markets: .*/m.exec(text) ?? [];
      const wallets = `${markets.replaceAll("deployed-1", slug)}\n${ACCOUNTS}`;
      const result = await runThere(opening + text, wallets);
      expect(result).toMatchObject({ way: "target", stateHash: null });
      expect(await bidsIn(slug)).toEqual([]);
      return endOf(result);
    });
    await expect(written).toMatchFileSnapshot("deployed.txt");
  });

  it("is opened anew for each repeated run, at whatever time", async () => {
    const { failure, status } = await runThere(RESTS, walletsFor(await newMarket()), 3);
    expect(failure).toBeNull();
    expect(status).toBe("passed");
  });

  it("leaves no resting order whose reply was lost", async () => {
    const slug = await newMarket();
    const lost = await operator.control.addFault({ route: "POST /clob/order", drop: "reply", times: 1 });
    const { status } = await runThere(RESTS, walletsFor(slug));
    expect([lost.ok, status]).toEqual([true, "failed"]);
    expect(await bidsIn(slug)).toEqual([]);
  });

  it("fails if an order cannot be canceled at the end, and the next run cancels it", async () => {
    const slug = await newMarket();
    orThrow(await operator.control.addFault({ route: "DELETE /clob/order", status: 503, times: 1 }));
    const { failure } = await runThere(RESTS, walletsFor(slug));
    expect(failure?.message).toMatch(/^orders of alice still rest, and cannot be canceled: UNAVAILABLE: /);
    expect((await runThere(RESTS, walletsFor(slug))).failure).toBeNull();
    expect(await bidsIn(slug)).toEqual([]);
  });

  it("does not touch orders of its wallets in other markets", async () => {
    const [slug, other] = [await newMarket(), await newMarket()];
    await placeApart(ENVIRONMENT.ALICE_KEY, other, { side: "BUY", price: 0.2, size: 5 });
    expect((await runThere(RESTS, walletsFor(slug))).failure).toBeNull();
    expect(await bidsIn(other)).toHaveLength(1);
  });
});

describe("a scenario of the suite that needs no control plane", () => {
  it("inserts the ids of its markets into paths, because a deployment has other slugs", () => {
    const scenarios = findFiles(["scenarios"]).map((file) => scenarioAt(file));
    const bound = scenarios.filter((scenario) => {
      const slugs = scenario.markets.map(({ name }) => name);
      const paths = [...stepsOf(scenario.steps)].flatMap((step) =>
        step.kind === "request" ? step.path : [],
      );
      return (
        controlNeedOf(scenario) === null && paths.some((path) => slugs.includes(path.split(/[/?]/)[3] ?? ""))
      );
    });
    expect(bound.map(({ place }) => place.file)).toEqual([]);
  });
});

const HEAD = "scenario: s\naccounts: { alice: { USDC: 10 } }\nsteps:\n";
const BID = "  - alice: BUY 1 YES @ 0.5 as bid\n";

describe("a deployment that does not answer", () => {
  it("is reported before anything is run", async () => {
    for (const wallets of [walletsFor("any"), ACCOUNTS]) {
      const file = folder.write("nobody.yaml", wallets);
      const refused = targetAt("http://127.0.0.1:1", file, ENVIRONMENT);
      await expect(refused).rejects.toThrow(ConfigError);
      await expect(refused).rejects.toThrow("--target: no reply from http://127.0.0.1:1: ");
    }
  });

  it("is reported if the URL has the path of a pool's exchange that is not there", async () => {
    const url = `${server.url}/3`;
    const refused = targetAt(url, folder.write("pool.yaml", walletsFor("any")), ENVIRONMENT);
    await expect(refused).rejects.toThrow(
      new ConfigError(`--target: there is no exchange at ${url}: no route "/3/clob/time"`),
    );
  });

  it("fails a scenario if it stops in between, and does not skip it", async () => {
    const world = readWorld(await readFile(TINY_WORLD, "utf8"));
    const slug = world.events[0]?.markets[0]?.slug ?? "";
    const file = folder.write("lost.yaml", walletsFor(slug));
    const ending = (await serveWorld({ ...DEFAULT_CONFIG, port: 0, logLevel: "silent" }, world)).server;
    const target = await targetAt(ending.url, file, ENVIRONMENT);
    await ending.close();
    const { status, failure } = await folder.run(`${HEAD}${BID}`, { target });
    expect(status).toBe("failed");
    expect({ step: failure?.step, text: failure?.text }).toEqual({ step: 0, text: "opening" });
    expect(failure?.message).toMatch(/^CONNECTION_\w+: /);
  });
});

describe("a deployment whose answer lacks something", () => {
  /** Runs a scenario on a deployment that leaves a field out of its answers to one route. */
  async function failureWithout(field: string, route: string, steps: string): Promise<string> {
    const lacking = await httpServer(async (request, response) => {
      const { method = "", url = "" } = request;
      const body = method === "GET" ? undefined : Buffer.concat(await request.toArray());
      const headers = Object.entries(request.headers).filter(([name]) => /^poly|^content-type$/.test(name));
      const answer = await fetch(server.url + url, {
        ...{ method, headers: headers as [string, string][] },
        ...(body === undefined ? {} : { body }),
      });
      const content = (await answer.json()) as Record<string, unknown>;
      if (`${method} ${url.split("?")[0]}` === route) delete content[field];
      response.writeHead(answer.status, { "content-type": "application/json" }).end(JSON.stringify(content));
    });
    onTestFinished(lacking.close);
    const file = folder.write("lacking.yaml", walletsFor(await newMarket()));
    const target = await targetAt(lacking.url, file, ENVIRONMENT);
    const { failure } = await folder.run(`${HEAD}${steps}`, { target });
    return failure?.message ?? "";
  }
  const cancel = (what: string): string => `${BID}  - alice: cancel ${what}\n`;
  const size = "the server answers nothing, expected a number of at most 2 decimals";

  it.each<[field: string, route: string, steps: string, message?: string]>([
    ["trades", "POST /clob/order", BID],
    ["size", "POST /clob/order", BID, size],
    ["canceled", "DELETE /clob/order", cancel("bid")],
    ["notCanceled", "DELETE /clob/order", cancel("bid")],
    ["canceled", "DELETE /clob/orders/all", cancel("all")],
    ["bids", "GET /clob/book", `${BID}  - expect: { book: { YES: { asks: [] } } }\n`],
    ["data", "GET /clob/trades", `${cancel("bid")}  - expect: { orders: { bid: CANCELED 0/1 } }\n`],
  ])(
    "fails a scenario that needs %s of %s, and not as a defect of clobsim",
    async (field, route, steps, message) => {
      const expected = message ?? `expected ${field} in the answer of the server, found nothing`;
      expect(await failureWithout(field, route, steps)).toBe(expected);
    },
  );
});

it.each([
  ["near others", "deploied-1", '"deploied-1" at URL, did you mean deployed-1?'],
  ["like no other", "nothing-like-it-is-here", '"nothing-like-it-is-here" at URL'],
  ["that may be a key, which is not shown", `"0x${"3f".repeat(32)}"`, "of that id at URL"],
])("a wallets file with an unknown market is refused: one %s", async (_what, slug, told) => {
  if (markets === 0) await newMarket();
  const file = folder.write("wrong-market.yaml", walletsFor(slug));
  const message = `--wallets ${file}: markets.market: there is no market ${told.replace("URL", server.url)}`;
  await expect(targetAt(server.url, file, ENVIRONMENT)).rejects.toThrow(new ConfigError(message));
});
