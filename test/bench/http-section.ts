import { join } from "node:path";
import type { Market, Page } from "../../src/client/api-messages.ts";
import {
  answerTo,
  type Call,
  CONNECTIONS,
  type CrossingOrders,
  crossingOrders,
  get,
  load,
  replyTo,
} from "./load-client.ts";
import type { Served } from "./programs.ts";
import { against, elapsed, lineOf, measured, type Section } from "./rounds.ts";
import { whole } from "./table.ts";

const SAMPLE_MS = 700;
const BOOK_BYTES = 1024;
const BARE = "bare node:http";

/** Speed of the server compared with a bare node:http server that sends the same bytes. */
export const httpSection: Section = {
  name: "http",
  about: "reading a book and placing signed orders over HTTP",
  unit: "thousand requests/s",
  baseline: `${BARE} that answers the same bytes, for an order after the same HMAC`,
  async measure(rounds, programs) {
    const logging = await programs.clobsim();
    const silent = await programs.clobsim("--log-level", "silent");
    const folder = programs.folder();
    const kept = await programs.clobsim("--data", join(folder, "process"));
    const synced = await programs.clobsim("--data", join(folder, "power"), "--durability", "power");
    const page = await bookCall(logging.port);
    const trader = await crossingOrders(logging.port);
    const bare = await programs.bare({
      secret: trader.secret,
      page: await answerTo(page, logging.port),
      orders: {
        BUY: await answerTo(trader.buy, logging.port),
        SELL: await answerTo(trader.sell, logging.port),
      },
    });
    let clientBusy = 0;
    const line = (workload: string, subject: string, { port }: Served, calls: readonly Call[]) =>
      lineOf(
        workload,
        subject,
        load(port, calls, SAMPLE_MS, (result) => {
          clientBusy = Math.max(clientBusy, result.clientBusy);
        }),
      );
    const reads = (subject: string, served: Served) => line("GET /clob/book, 1 KB", subject, served, [page]);
    const orders = (subject: string, served: Served, { buy, sell }: CrossingOrders) =>
      line("POST /clob/order, signed", subject, served, [buy, sell]);
    const lines = [
      reads("clobsim", logging),
      reads("clobsim --log-level silent", silent),
      reads(BARE, bare),
      orders("clobsim", logging, trader),
      orders("clobsim --log-level silent", silent, await crossingOrders(silent.port)),
      orders("clobsim --data DIR", kept, await crossingOrders(kept.port)),
      orders("clobsim --data DIR --durability power", synced, await crossingOrders(synced.port)),
      orders(BARE, bare, trader),
    ];
    return {
      measurements: await measured(lines, { rounds, warmUps: 2 }, against(BARE)),
      notes: [
        `${CONNECTIONS} connections, each with one request under way; the client kept at most ${clientBusy.toFixed(2)} of a processor busy.`,
        "clobsim as it is shipped, logging to nowhere; every second order meets the one before it.",
      ],
    };
  },
};

/** Returns the read whose response is nearest to 1 KB. */
export async function bookCall(port: number): Promise<Call> {
  const { data } = await replyTo<Page<Market>>(get("/api/markets?active=true&limit=100"), port);
  let [best, least]: [Call | null, number] = [null, Number.POSITIVE_INFINITY];
  for (const { tokens } of data) {
    const call = get(`/clob/book?token_id=${tokens[0]?.tokenId}`);
    const { body } = await answerTo(call, port);
    const distance = Math.abs(body.length - BOOK_BYTES);
    if (distance < least) [best, least] = [call, distance];
  }
  if (best === null) throw new Error("the server's world has no open market");
  return best;
}

const MARKETS = 5_000;
const PATHS = ["/clob/time", "/sim", "/sim/state/hash"];
const CHANGE = { method: "POST", headers: { "content-type": "application/json" }, body: '{"advance":"1ms"}' };

/** Requests for the whole exchange, directly after a change. */
export const overviewSection: Section = {
  name: "overview",
  about: `the state of an exchange with ${whole(MARKETS)} markets, asked for after each command`,
  unit: "ms",
  baseline: "GET /clob/time, which reads no state",
  fewest: 200,
  async measure(rounds, programs) {
    const { port } = await programs.clobsim("--markets", String(MARKETS));
    const ask = async (path: string, request: RequestInit = {}): Promise<void> => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, request);
      if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
      await answer.arrayBuffer();
    };
    const lines = PATHS.map((path) =>
      lineOf("after a command", `GET ${path}`, () =>
        ask("/sim/clock", CHANGE).then(() => elapsed(() => ask(path))),
      ),
    );
    return {
      measurements: await measured(lines, { rounds, warmUps: 50 }),
      notes: ["One client on one connection, with Node's fetch and its own time in it."],
    };
  },
};
