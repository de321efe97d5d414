import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { bookCall } from "../http-section.ts";
import { answerTo, type Call, crossingOrders, get, load } from "../load-client.ts";
import { CLOBSIM, inCheckout, millisecondsToFirstAnswer, type Programs, type Served } from "../programs.ts";
import { elapsed, lineOf, type Measurement, measured, type Section } from "../rounds.ts";
import { FLOW_ORDERS, longFlow } from "../scenario-section.ts";

const HERE = "test/bench/peers";
const SAMPLE_MS = 700;
const START_ROUNDS = 3;
const NAME = "clobsim";

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
}

/** An alternative server. */
interface Peer {
  readonly name: string;
  /** Returns its script and arguments, which the port follows. */
  argsFor(known: Known): readonly string[];
  /** Its own form of the request, if it has one. */
  readonly paths?: { readonly book: string; readonly order: string };
}

const PEERS: readonly Peer[] = [
  {
    name: NAME,
    argsFor: () => [CLOBSIM, ..."serve --ephemeral --clock frozen --log-level silent --port".split(" ")],
  },
  {
    name: "json-server",
    argsFor: ({ peers, database }) => [
      ...[`${peers}/node_modules/json-server/lib/cli/bin.js`, "--quiet", database, "--port"],
    ],
    paths: { book: "/book", order: "/orders" },
  },
  {
    name: "prism",
    argsFor: ({ peers, openapi }) => [
      ...[`${peers}/node_modules/@stoplight/prism-cli/dist/index.js`, "mock", openapi],
      ..."--multiprocess false --verboseLevel silent --port".split(" "),
    ],
  },
  {
    name: "mockoon",
    argsFor: ({ peers, openapi }) => [
      ...[`${peers}/node_modules/@mockoon/cli/bin/run.js`, "start", "--data", openapi],
      ...["--disable-log-to-file", "--port"],
    ],
  },
];

/** Comparison with alternatives, as far as they can do the same. */
export const peersSection: Section = {
  name: "peers",
  about: "alternatives: mock servers, a mock of fetch, a script",
  unit: "ms, or thousand a second",
  baseline: NAME,
  async measure(rounds, programs) {
    const peers = await install();
    const clobsim = await programs.clobsim("--log-level", "silent");
    const known = await knownOf(clobsim, peers, programs.folder());
    const starts = PEERS.map((peer) =>
      lineOf("to the first 200, ms", peer.name, () =>
        millisecondsToFirstAnswer(onPort(peer, known), callsOf(known, peer).book.path),
      ),
    );
    const startTimes = await measured(starts, { rounds: START_ROUNDS, warmUps: 1 });
    const { measurements, holding } = await throughputs(known, rounds, programs);
    const without = PEERS.map(({ name }) => name).filter((name) => !holding.includes(name));
    const others = [...(await fetches(known, clobsim, rounds)), ...(await replays(programs.folder()))];
    return {
      measurements: [...startTimes, ...measurements, ...others],
      notes: [
        `Answers with a book that contains the placed order: ${holding.join(", ")}. Answers without: ${without.join(", ")}, msw.`,
        "prism and mockoon use clobsim's own /openapi.json and answer with examples or random values; json-server and msw answer with a body copied from clobsim. None of them checks a signature or a balance, matches, or settles.",
        `Starts and replays in ${START_ROUNDS} rounds. The script keeps a book of plain arrays only: no ledger, no ids, no invariants.`,
      ],
    };
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

async function knownOf({ port }: Served, peers: string, folder: string): Promise<Known> {
  const book = await bookCall(port);
  const { sell: order } = await crossingOrders(port);
  const [openapi, database] = [join(folder, "openapi.json"), join(folder, "db.json")];
  const { body: bookBody } = await answerTo(book, port);
  writeFileSync(openapi, (await answerTo(get("/openapi.json"), port)).body);
  writeFileSync(database, JSON.stringify({ book: JSON.parse(bookBody), orders: [] }));
  return { peers, openapi, database, book, order, bookBody };
}

const onPort = (peer: Peer, known: Known) => (port: number) => [...peer.argsFor(known), String(port)];

const callsOf = ({ book, order }: Known, { paths }: Peer): Readonly<Record<"book" | "order", Call>> => ({
  book: { ...book, path: paths?.book ?? book.path },
  order: { ...order, path: paths?.order ?? order.path },
});

/** Also returns the servers whose book shows a placed order. */
async function throughputs(known: Known, rounds: number, programs: Programs) {
  const holding: string[] = [];
  const books = [];
  const orders = [];
  for (const peer of PEERS) {
    const calls = callsOf(known, peer);
    const { port } = await programs.serve(onPort(peer, known), calls.book.path);
    // Credentials and a market of clobsim; the others have neither.
    const own = peer.name === NAME ? await crossingOrders(port) : null;
    const placing = own === null ? [calls.order] : [own.buy, own.sell];
    if (await holds(port, placing.at(-1) as Call, peer)) holding.push(peer.name);
    const line = (workload: string, sent: readonly Call[]) =>
      lineOf(workload, peer.name, load(port, sent, SAMPLE_MS));
    books.push(line("GET /clob/book", [calls.book]));
    orders.push(line("POST /clob/order, signed", placing));
  }
  const plan = { rounds, warmUps: 1 };
  return { measurements: [...(await measured(books, plan)), ...(await measured(orders, plan))], holding };
}

/** Whether the book shows a sell order that was placed at a new price. */
async function holds(port: number, order: Call, { paths }: Peer): Promise<boolean> {
  const { tokenId, price, size } = JSON.parse(order.body) as Record<"tokenId" | "price" | "size", unknown>;
  const send = ({ path, method, headers, body }: Call): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}${path}`, { method, headers, ...(body === "" ? {} : { body }) });
  const answer = await send(order);
  if (!answer.ok)
    throw new Error(`port ${port} answered ${answer.status} to an order: ${await answer.text()}`);
  const book = await send(get(paths?.book ?? `/clob/book?token_id=${tokenId}`));
  const { asks } = (await book.json()) as { readonly asks?: readonly Readonly<Record<string, unknown>>[] };
  return asks?.some((level) => level.price === price && level.size === size) === true;
}

function fetches({ peers, book, bookBody }: Known, { port }: Served, rounds: number): Promise<Measurement[]> {
  const line = (subject: string, origin: string, ...mock: readonly string[]) => {
    const url = `${origin}${book.path}`;
    const args = [inCheckout(`${HERE}/fetching.mjs`), String(SAMPLE_MS), url, ...mock];
    const sample = async () => Number((await run(process.execPath, args)).stdout) / 1_000;
    return lineOf("GET /clob/book by fetch", subject, sample);
  };
  const lines = [
    line(`${NAME}, another process`, `http://127.0.0.1:${port}`),
    line("msw, the same process", "http://clobsim.test", bookBody, peers),
  ];
  return measured(lines, { rounds, warmUps: 0 });
}

async function replays(folder: string): Promise<Measurement[]> {
  const { flow, replay } = await longFlow(folder);
  let trades = 0;
  const replayed = async (): Promise<void> => {
    trades = await replay();
  };
  const plain = async (): Promise<void> => {
    const { stdout } = await run(process.execPath, [inCheckout(`${HERE}/plain-replay.mjs`), flow]);
    if (Number(stdout) !== trades)
      throw new Error(`the script made ${stdout.trim()} trades, clobsim ${trades}`);
  };
  const line = (subject: string, work: () => Promise<void>) =>
    lineOf("orders of a CSV replayed", subject, async () => FLOW_ORDERS / (await elapsed(work)));
  const lines = [line(NAME, replayed), line("a script of 100 lines", plain)];
  return measured(lines, { rounds: START_ROUNDS, warmUps: 0 });
}
