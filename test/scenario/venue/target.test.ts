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
import { targetAt } from "../../../src/scenario/venue/target-venue.ts";
import { ConfigError } from "../../../src/setting.ts";
import { readWorld } from "../../../src/simulation/world.ts";
import { namedPrivateKey } from "../../../src/simulation/world-accounts.ts";
import { TINY_WORLD, yesOf } from "../../support/http.ts";
import { httpServer } from "../../support/local-server.ts";
import { pageWith } from "../../support/page.ts";
import { ScenarioFolder, scenarioAt } from "../run/scenario-folder.ts";

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

const TRADE = `scenario: a partial fill leaves the remainder live
accounts: { alice: { USDC: 1000 }, bob: { YES: 500 } }
steps:
  - alice: BUY 100 YES @ 0.55 as bid
  - bob: SELL 40 YES @ 0.50
    fills: [SELL 40 YES @ 0.55 from bid]
    status: MATCHED 40/40
  - alice: BUY 10 YES @ 0.555
    rejects: INVALID_TICK_SIZE
  - expect:
      book:   { YES: { bids: [0.55 x 60], asks: [] } }
      orders: { bid: LIVE 40/100 }
      trades: [bob SELL 40 YES @ 0.55 from alice]
      quote:  { YES: { bid: 0.55, ask: none, last: 0.55 } }
  - alice: cancel bid
  - alice: cancel bid
    rejects: already canceled
  - repeat: 2
    steps:
      - alice: BUY 5 YES @ 0.10 as low#
      - alice: cancel low#
  - alice: BUY 5 YES @ 0.10 GTD +1h as late
  - alice: cancel all
  - expect: { orders: { bid: CANCELED 40/100 USER, late: CANCELED 0/5 } }
`;

describe("a scenario on a deployment", () => {
  it("passes with the public API, on an exchange with other markets", async () => {
    const result = await runThere(TRADE, walletsFor(await newMarket()));
    expect(result.failure).toBeNull();
    expect(result).toMatchObject({ status: "passed", way: "target", steps: 13, stateHash: null });
  });

  it("knows the orders that a request canceled", async () => {
    const text = `scenario: canceled by hand
accounts: { alice: { USDC: 10 } }
steps:
  - alice: BUY 5 YES @ 0.2 as bid
  - request: DELETE /order
    as: alice
    body: { orderId: "{order bid}" }
  - alice: BUY 5 YES @ 0.3 as other
  - request: DELETE /orders/all
    as: alice
  - expect: { orders: { bid: CANCELED 0/5 USER, other: CANCELED 0/5 USER } }
`;
    expect((await runThere(text, walletsFor(await newMarket()))).failure).toBeNull();
  });

  it("is opened anew for each repeated run, at whatever time", async () => {
    const { failure, status } = await runThere(RESTS, walletsFor(await newMarket()), 3);
    expect(failure).toBeNull();
    expect(status).toBe("passed");
  });

  it("fails if an expectation does not hold", async () => {
    const text = TRADE.replace("bids: [0.55 x 60]", "bids: [0.55 x 61]");
    const { failure, status } = await runThere(text, walletsFor(await newMarket()));
    expect(status).toBe("failed");
    expect(failure?.place.line).toBe(11);
    expect(failure?.diff.map(({ text: line }) => line)).toEqual(["bid 0.55 x 61", "bid 0.55 x 60"]);
  });

  it("names an unknown account `somebody`", async () => {
    const slug = await newMarket();
    await placeApart(namedPrivateKey("a stranger"), slug, { side: "SELL", price: 0.5, size: 5 });
    const { failure } = await runThere(
      `scenario: another
accounts: { alice: { USDC: 5 } }
steps:
  - alice: BUY 5 YES @ 0.5
    fills: [BUY 5 YES @ 0.5 from somebody]
`,
      walletsFor(slug),
    );
    expect(failure).toBeNull();
  });

  it("runs on a market with a self-trade policy that the wallets file declares", async () => {
    const slug = await newMarket({ selfTrade: "cancel-taker" });
    const text = `scenario: own orders do not meet
market: { selfTrade: cancel-taker }
accounts: { alice: { USDC: 10 }, bob: { YES: 5 } }
steps:
  - bob: SELL 5 YES @ 0.5
  - bob: BUY 5 YES @ 0.5
    status: CANCELED 0/5 SELF_TRADE
`;
    const wallets = walletsFor(`{ market: ${slug}, selfTrade: cancel-taker }`);
    expect((await runThere(text, wallets)).failure).toBeNull();
  });

  it("compares the settlement status of fills from the public API", async () => {
    const trade = `scenario: how far
accounts: { alice: { USDC: 1000 }, bob: { YES: 500 } }
steps:
  - alice: BUY 10 YES @ 0.55
  - bob: SELL 4 YES @ 0.50
    fills: [SELL 4 YES @ 0.55 from alice MATCHED]
  - bob: SELL 6 YES @ 0.50
  - expect: { trades: [bob SELL 4 YES @ 0.55 from alice MATCHED, bob SELL 6 YES @ 0.55 from alice FAILED] }
`;
    const { failure } = await runThere(trade, walletsFor(await newMarket()));
    expect({ line: failure?.place.line, diff: failure?.diff.map(({ text }) => text) }).toEqual({
      line: 8,
      diff: [
        "bob SELL 4 YES @ 0.55 from alice MATCHED",
        "bob SELL 6 YES @ 0.55 from alice FAILED",
        "bob SELL 6 YES @ 0.55 from alice MATCHED",
      ],
    });
  });

  it("leaves no resting orders, also if it failed", async () => {
    const slug = await newMarket();
    const bids = `accounts: { alice: { USDC: 5 } }
steps:
  - alice: BUY 5 YES @ 0.4 as bid
  - request: POST /order
    as: alice
    body: { tokenId: "{token YES}", side: BUY, price: 0.3, size: 5 }
`;
    const passed = await runThere(`scenario: one\n${bids}`, walletsFor(slug));
    const failed = await runThere(
      `scenario: other\n${bids}  - expect: { orders: { bid: MATCHED 5/5 } }\n`,
      walletsFor(slug),
    );
    expect([passed.status, failed.status]).toEqual(["passed", "failed"]);
    expect(await bidsIn(slug)).toEqual([]);
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

  it.each([
    ["trades", "POST /clob/order", BID, "expected trades in the answer of the server, found nothing"],
    ["size", "POST /clob/order", BID, "the server answers nothing, expected a number of at most 2 decimals"],
    [
      "canceled",
      "DELETE /clob/order",
      cancel("bid"),
      "expected canceled in the answer of the server, found nothing",
    ],
    [
      "notCanceled",
      "DELETE /clob/order",
      cancel("bid"),
      "expected notCanceled in the answer of the server, found nothing",
    ],
    [
      "canceled",
      "DELETE /clob/orders/all",
      cancel("all"),
      "expected canceled in the answer of the server, found nothing",
    ],
    [
      "bids",
      "GET /clob/book",
      `${BID}  - expect: { book: { YES: { asks: [] } } }\n`,
      "expected bids in the answer of the server, found nothing",
    ],
    [
      "data",
      "GET /clob/trades",
      `${cancel("bid")}  - expect: { orders: { bid: CANCELED 0/1 } }\n`,
      "expected data in the answer of the server, found nothing",
    ],
  ])(
    "fails a scenario that needs %s of %s, and not as a defect of clobsim",
    async (field, route, steps, message) => {
      expect(await failureWithout(field, route, steps)).toBe(message);
    },
  );
});

describe("a scenario is skipped", () => {
  it("with the reason in its page", async () => {
    folder.write("flow.csv", "at,account,op,ref,side,outcome,price,size,type\n0,alice,fund,,,USDC,,1,\n");
    const slug = await newMarket();
    const page = readFileSync(new URL("skipped.txt", import.meta.url), "utf8");
    const written = await pageWith(page, async ({ opening, text }) => {
      const [markets = "markets: { market: deployed-1 }"] = /(?<=^# )markets: .*/m.exec(text) ?? [];
      const wallets = `${markets.replaceAll("deployed-1", slug)}\n${ACCOUNTS}`;
      const { status, reason } = await runThere(opening + text, wallets);
      return [`${status}: ${reason}`];
    });
    await expect(written).toMatchFileSnapshot("skipped.txt");
  });

  it("if it has a world of its own", async () => {
    folder.write("tiny.json", await readFile(TINY_WORLD, "utf8"));
    const { reason } = await runThere("scenario: w\nworld: tiny.json\nsteps: [{ advance: 1s }]\n", ACCOUNTS);
    expect(reason).toBe("needs control plane: it opens a world of its own");
  });

  it("if the market is closed", async () => {
    const slug = await newMarket();
    const { id } = orThrow(await operator.market(slug));
    orThrow(await operator.control.close(id));
    const text = `${HEAD}${BID}`;
    expect((await runThere(text, walletsFor(slug))).reason).toBe(
      "needs a market named market with status ACTIVE, it is CLOSED",
    );
  });
});

describe("a wallets file with an unknown market", () => {
  const refusal = async (slug: string): Promise<string> => {
    const file = folder.write("wrong-market.yaml", walletsFor(slug));
    const told = await targetAt(server.url, file, ENVIRONMENT).catch((error: unknown) => error);
    expect(told).toBeInstanceOf(ConfigError);
    return (told as Error).message.replace(file, "FILE").replace(server.url, "URL");
  };

  it("is refused with the nearest slug, and nothing is skipped", async () => {
    const slug = await newMarket();
    expect(await refusal(slug.replace("deployed", "deploied"))).toBe(
      `--wallets FILE: markets.market: there is no market "${slug.replace("deployed", "deploied")}" at URL, did you mean ${slug}?`,
    );
    expect(await refusal("nothing-like-it-is-here")).toBe(
      '--wallets FILE: markets.market: there is no market "nothing-like-it-is-here" at URL',
    );
  });

  it("does not show a possible key", async () => {
    expect(await refusal(`"0x${"3f".repeat(32)}"`)).toBe(
      "--wallets FILE: markets.market: there is no market of that id at URL",
    );
  });
});
