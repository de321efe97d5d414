import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { answerTo, bombard, bytesOf, type Call, crossingOrders, get } from "../http/client.ts";
import { bookCall } from "../http/http-section.ts";
import {
  benchFolder,
  buildProgram,
  inCheckout,
  millisecondsToFirstAnswer,
  type Served,
  serveClobsim,
  serveProgram,
} from "../programs.ts";
import { median, takeTurns } from "../rounds.ts";
import { longFlow, replayOnce } from "../scenario/long-flow.ts";
import { type Measurement, measurementOf, type Section } from "../section.ts";

const HERE = "test/bench/peers";
const CONNECTIONS = 32;
const SAMPLE_MS = 700;
const START_ROUNDS = 3;
const FLOW_ORDERS = 1_000_000;
const CLOBSIM = "clobsim";

const run = promisify(execFile);

/** Input of the other servers: the OpenAPI document and responses of clobsim. */
interface Known {
  /** Folder in which the others are installed. */
  readonly peers: string;
  readonly openapi: string;
  /** Data of json-server: `book`, and `orders` to which one is added. */
  readonly database: string;
  readonly book: Call;
  readonly order: Call;
  readonly bookBody: string;
  readonly orderBody: string;
}

/** An alternative server. */
interface Peer {
  readonly name: string;
  argsFor(known: Known): (port: number) => readonly string[];
  /** Its own form of the request, if it has one. */
  readonly paths?: { readonly book: string; readonly order: string };
}

const PEERS: readonly Peer[] = [
  {
    name: CLOBSIM,
    argsFor: () => (port) => [
      inCheckout("bin/clobsim.js"),
      ...["serve", "--ephemeral", "--clock", "frozen", "--log-level", "silent", "--port", String(port)],
    ],
  },
  {
    name: "json-server",
    argsFor:
      ({ peers, database }) =>
      (port) => [
        `${peers}/node_modules/json-server/lib/cli/bin.js`,
        "--quiet",
        "--port",
        String(port),
        database,
      ],
    paths: { book: "/book", order: "/orders" },
  },
  {
    name: "prism",
    argsFor:
      ({ peers, openapi }) =>
      (port) => [
        `${peers}/node_modules/@stoplight/prism-cli/dist/index.js`,
        ...["mock", openapi, "--port", String(port), "--multiprocess", "false", "--verboseLevel", "silent"],
      ],
  },
  {
    name: "mockoon",
    argsFor:
      ({ peers, openapi }) =>
      (port) => [
        `${peers}/node_modules/@mockoon/cli/bin/run.js`,
        ...["start", "--data", openapi, "--port", String(port), "--disable-log-to-file"],
      ],
  },
];

/** Comparison with alternatives, as far as they can do the same. */
export const peersSection: Section = {
  name: "peers",
  about: "alternatives: mock servers, a mock of fetch, a script",
  async measure(rounds) {
    await buildProgram();
    const peers = await install();
    const clobsim = await serveClobsim("--log-level", "silent");
    try {
      const known = await knownOf(clobsim, peers);
      const holding: string[] = [];
      const measurements = [
        ...(await starts(known)),
        ...(await throughputs(known, rounds, holding)),
        ...(await fetches(known, clobsim, rounds)),
        ...(await replays(START_ROUNDS)),
      ];
      const without = PEERS.map(({ name }) => name).filter((name) => !holding.includes(name));
      return {
        unit: "ms, or thousand a second",
        baseline: CLOBSIM,
        rounds,
        measurements,
        notes: [
          `Answers with a book that contains the placed order: ${holding.join(", ")}. Answers without: ${without.join(", ")}, msw.`,
          "prism and mockoon use clobsim's own /openapi.json and answer with examples or random values; json-server and msw answer with a body copied from clobsim. None of them checks a signature or a balance, matches, or settles.",
          `Starts and replays in ${START_ROUNDS} rounds. The script keeps a book of plain arrays only: no ledger, no ids, no invariants.`,
        ],
      };
    } finally {
      await clobsim.stop();
    }
  },
};

/** Installs the alternatives in a separate folder and returns it. */
async function install(): Promise<string> {
  const folder = inCheckout("node_modules/.cache/clobsim/peers");
  mkdirSync(folder, { recursive: true });
  for (const file of ["package.json", "package-lock.json"])
    copyFileSync(inCheckout(`${HERE}/${file}`), join(folder, file));
  const npm = spawn("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
    shell: process.platform === "win32",
  });
  const [code] = await once(npm, "exit");
  if (code !== 0) throw new Error(`npm ci in ${folder} ended with ${code}`);
  return folder;
}

async function knownOf({ port }: Served, peers: string): Promise<Known> {
  const folder = benchFolder();
  const book = await bookCall(port);
  const { sell: order } = await crossingOrders(port);
  const [openapi, database] = [join(folder, "openapi.json"), join(folder, "db.json")];
  const { body: bookBody } = await answerTo(book, port);
  const { body: orderBody } = await answerTo(order, port);
  writeFileSync(openapi, (await answerTo(get("/openapi.json"), port)).body);
  writeFileSync(database, JSON.stringify({ book: JSON.parse(bookBody), orders: [] }));
  return { peers, openapi, database, book, order, bookBody, orderBody };
}

const callsOf = ({ book, order }: Known, { paths }: Peer): { readonly book: Call; readonly order: Call } => ({
  book: { ...book, path: paths?.book ?? book.path },
  order: { ...order, path: paths?.order ?? order.path },
});

async function starts(known: Known): Promise<Measurement[]> {
  const samples = await takeTurns(
    PEERS.map((peer) => {
      const { path } = callsOf(known, peer).book;
      return () => millisecondsToFirstAnswer(peer.argsFor(known), path);
    }),
    { rounds: START_ROUNDS, warmUps: 1 },
  );
  return measured("to the first 200, ms", samples);
}

/** Also adds to `holding` the servers whose book shows a placed order. */
async function throughputs(known: Known, rounds: number, holding: string[]): Promise<Measurement[]> {
  const servers: Served[] = [];
  try {
    const jobs = { book: [] as (() => Promise<number>)[], order: [] as (() => Promise<number>)[] };
    for (const peer of PEERS) {
      const server = await serveProgram(peer.argsFor(known), callsOf(known, peer).book.path);
      servers.push(server);
      const { port } = server;
      // Credentials and a market of clobsim; the others have neither.
      const { buy, sell } = peer.name === CLOBSIM ? await crossingOrders(port) : { buy: null, sell: null };
      const calls = callsOf(known, peer);
      const orders = sell === null ? [calls.order] : [buy, sell];
      if (await holds(port, orders.at(-1) as Call, peer)) holding.push(peer.name);
      const rate = (requests: readonly Call[]) => async () => {
        const load = {
          port,
          requests: requests.map((call) => bytesOf(call, port)),
          connections: CONNECTIONS,
        };
        return (await bombard({ ...load, durationMs: SAMPLE_MS })).requestsPerSecond / 1_000;
      };
      jobs.book.push(rate([calls.book]));
      jobs.order.push(rate(orders));
    }
    const books = await takeTurns(jobs.book, { rounds, warmUps: 1 });
    const orders = await takeTurns(jobs.order, { rounds, warmUps: 1 });
    return [...measured("GET /clob/book", books), ...measured("POST /clob/order, signed", orders)];
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

/** Whether the book shows a sell order that was placed at a new price. */
async function holds(port: number, order: Call, { paths }: Peer): Promise<boolean> {
  const { tokenId, price, size } = JSON.parse(order.body) as Record<"tokenId" | "price" | "size", unknown>;
  const send = (call: Call): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}${call.path}`, {
      method: call.method,
      headers: call.headers,
      ...(call.body === "" ? {} : { body: call.body }),
    });
  const answer = await send(order);
  if (!answer.ok)
    throw new Error(`port ${port} answered ${answer.status} to an order: ${await answer.text()}`);
  const book = await send(get(paths?.book ?? `/clob/book?token_id=${tokenId}`));
  const { asks } = (await book.json()) as { readonly asks?: readonly Readonly<Record<string, unknown>>[] };
  return asks?.some((level) => level.price === price && level.size === size) === true;
}

async function fetches(known: Known, { port }: Served, rounds: number): Promise<Measurement[]> {
  const { peers, book, bookBody } = known;
  const rate =
    (url: string, ...mock: readonly string[]) =>
    async () => {
      const args = [inCheckout(`${HERE}/fetching.mjs`), String(SAMPLE_MS), "GET", url, "{}", "", ...mock];
      return Number((await run(process.execPath, args)).stdout) / 1_000;
    };
  const samples = await takeTurns(
    [rate(`http://127.0.0.1:${port}${book.path}`), rate(`http://clobsim.test${book.path}`, bookBody, peers)],
    { rounds, warmUps: 0 },
  );
  return measured("GET /clob/book by fetch", samples, [
    `${CLOBSIM}, another process`,
    "msw, the same process",
  ]);
}

async function replays(rounds: number): Promise<Measurement[]> {
  const { flow, scenario } = await longFlow(benchFolder(), FLOW_ORDERS);
  let trades = 0;
  const replayed = async (): Promise<number> => {
    const start = performance.now();
    trades = await replayOnce(scenario);
    return FLOW_ORDERS / (performance.now() - start);
  };
  const plain = async (): Promise<number> => {
    const start = performance.now();
    const { stdout } = await run(process.execPath, [inCheckout(`${HERE}/plain-replay.mjs`), flow]);
    if (Number(stdout) !== trades)
      throw new Error(`the script made ${stdout.trim()} trades, clobsim ${trades}`);
    return FLOW_ORDERS / (performance.now() - start);
  };
  const samples = await takeTurns([replayed, plain], { rounds, warmUps: 0 });
  return measured("orders of a CSV replayed", samples, [CLOBSIM, "a script of 100 lines"]);
}

/** Makes a row for each subject; the first is the baseline. */
function measured(
  workload: string,
  samples: readonly (readonly number[])[],
  subjects = PEERS.map(({ name }) => name),
): Measurement[] {
  const baseline = median(samples[0] ?? []);
  return subjects.map((subject, index) => measurementOf(workload, subject, samples[index] ?? [], baseline));
}
