import { join } from "node:path";
import { benchFolder, buildProgram, type Served, serveBare, serveClobsim } from "../programs.ts";
import { median, takeTurns } from "../rounds.ts";
import type { Section } from "../section.ts";
import { measurementOf } from "../section.ts";
import { answerTo, bombard, bytesOf, type Call, type CrossingOrders, crossingOrders, get } from "./client.ts";

const CONNECTIONS = 32;
const SAMPLE_MS = 700;
const BOOK_BYTES = 1024;
const BARE = "bare node:http";

/** Speed of the server compared with a bare node:http server that sends the same bytes. */
export const httpSection: Section = {
  name: "http",
  about: "reading a book and placing signed orders over HTTP",
  async measure(rounds) {
    await buildProgram();
    const servers: Served[] = [];
    const start = async (starting: Promise<Served>): Promise<Served> => {
      servers.push(await starting);
      return servers.at(-1) as Served;
    };
    try {
      const logging = await start(serveClobsim());
      const silent = await start(serveClobsim("--log-level", "silent"));
      const folder = benchFolder();
      const kept = await start(serveClobsim("--data", join(folder, "process")));
      const synced = await start(serveClobsim("--data", join(folder, "power"), "--durability", "power"));
      const page = await bookCall(logging.port);
      const trader = await crossingOrders(logging.port);
      const bare = await start(serveBare(await answersOf(logging.port, page, trader)));
      return await race(rounds, [
        ...workloads("clobsim", logging, page, trader),
        ...workloads("clobsim --log-level silent", silent, page, await crossingOrders(silent.port)),
        order("clobsim --data DIR", kept, await crossingOrders(kept.port)),
        order("clobsim --data DIR --durability power", synced, await crossingOrders(synced.port)),
        ...workloads(BARE, bare, page, trader),
      ]);
    } finally {
      await Promise.all(servers.map((server) => server.stop()));
    }
  },
};

interface Workload {
  readonly workload: string;
  readonly subject: string;
  readonly port: number;
  readonly requests: readonly Buffer[];
}

const workloads = (subject: string, served: Served, page: Call, trader: CrossingOrders): Workload[] => [
  workloadOf("GET /clob/book, 1 KB", subject, served, [page]),
  order(subject, served, trader),
];

const order = (subject: string, served: Served, { buy, sell }: CrossingOrders): Workload =>
  workloadOf("POST /clob/order, signed", subject, served, [buy, sell]);

function workloadOf(workload: string, subject: string, { port }: Served, calls: readonly Call[]): Workload {
  return { workload, subject, port, requests: calls.map((call) => bytesOf(call, port)) };
}

async function race(rounds: number, all: readonly Workload[]) {
  let clientBusy = 0;
  const samples = await takeTurns(
    all.map(({ port, requests }) => async () => {
      const result = await bombard({ port, requests, connections: CONNECTIONS, durationMs: SAMPLE_MS });
      clientBusy = Math.max(clientBusy, result.clientBusy);
      return result.requestsPerSecond / 1000;
    }),
    { rounds, warmUps: 2 },
  );
  const results = all.map((each, index) => ({ ...each, figures: samples[index] ?? [] }));
  return {
    unit: "thousand requests/s",
    baseline: `${BARE} that answers the same bytes, for an order after the same HMAC`,
    rounds,
    measurements: results
      .sort((a, b) => a.workload.localeCompare(b.workload))
      .map(({ workload, subject, figures }) => {
        const bare = results.find((other) => other.workload === workload && other.subject === BARE);
        return measurementOf(workload, subject, figures, median(bare?.figures ?? []));
      }),
    notes: [
      `${CONNECTIONS} connections, each with one request under way; the client kept at most ${clientBusy.toFixed(2)} of a processor busy.`,
      "clobsim as it is shipped, logging to nowhere; every second order meets the one before it.",
    ],
  };
}

/** Returns the read whose response is nearest to 1 KB. */
export async function bookCall(port: number): Promise<Call> {
  const markets = await answerTo(get("/api/markets?active=true&limit=100"), port);
  const { data } = JSON.parse(markets.body) as { data: { tokens: [{ tokenId: string }, unknown] }[] };
  let best: { readonly call: Call; readonly distance: number } | undefined;
  for (const { tokens } of data) {
    const call = get(`/clob/book?token_id=${tokens[0].tokenId}`);
    const { body } = await answerTo(call, port);
    const distance = Math.abs(body.length - BOOK_BYTES);
    if (best === undefined || distance < best.distance) best = { call, distance };
  }
  if (best === undefined) throw new Error("the server's world has no open market");
  return best.call;
}

/** Responses of the bare server. */
async function answersOf(port: number, page: Call, { buy, sell, secret }: CrossingOrders) {
  return {
    secret,
    page: await answerTo(page, port),
    orders: { BUY: await answerTo(buy, port), SELL: await answerTo(sell, port) },
  };
}
