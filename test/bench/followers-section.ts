import assert from "node:assert";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { WebSocket } from "ws";
import type { Info } from "../../src/client/api-messages.ts";
import { CONNECTIONS, crossingOrders, get, load, replyTo } from "./load-client.ts";
import type { ProcessTask, Served, Task } from "./programs.ts";
import { compared, lineOf, measured, type Section } from "./rounds.ts";
import { whole } from "./table.ts";

const SUBSCRIBERS = 1_000;
const SAMPLE_MS = 2_000;
/** Half of the interval of automatic blocks. */
const BLOCK_MS = 1_000;
/** Subscriptions of one connection and blocks mined at once whose notifications exceed all buffers. */
const SUBSCRIPTIONS = 1_000;
const BLOCKS_AT_ONCE = 40;
/** How long it does not read: the server closes it 10 s after its buffer is full and terminates it 10 s later. */
const PAUSE_MS = 16_000;
const DEADLINE_MS = 30_000;
const SETTLING_MS = 500;

/** Returns a sample: thousand orders per second of a server. */
async function trading({ port }: Served): Promise<() => Promise<number>> {
  const { buy, sell } = await crossingOrders(port);
  return load(port, [buy, sell], SAMPLE_MS);
}

/** Cost of newHeads notifications for trading clients. */
export const subscribersSection: Section = {
  name: "subscribers",
  about: `placing signed orders while ${whole(SUBSCRIBERS)} WebSockets are told of new heads`,
  unit: "thousand orders/s",
  baseline: "nobody subscribed, in the same run",
  async measure(rounds, programs) {
    const alone = await programs.clobsim("--log-level", "silent");
    const watched = await programs.clobsim("--log-level", "silent");
    const crowd = programs.task("subscribers", { port: watched.port, count: SUBSCRIBERS });
    await crowd.ask();
    const signed = "POST /clob/order, signed";
    const lines = [
      lineOf(signed, "nobody subscribed", await tradingAndMining(alone)),
      lineOf(signed, `${whole(SUBSCRIBERS)} subscribers`, await tradingAndMining(watched)),
    ];
    const measurements = await measured(lines, { rounds, warmUps: 1 });
    const end = await cutOff(watched.port);
    const [fewest = 0, most = 0] = await settled(crowd);
    assert(fewest === most && fewest > 0, `a subscriber was told ${fewest} heads, another one ${most}`);
    return {
      measurements,
      notes: [
        `${CONNECTIONS} connections, each with one order under way, and a block every ${BLOCK_MS / 1_000} s; the subscribers are one process of its own.`,
        `Each of them was told all ${fewest} heads. One more that read nothing was ${end}.`,
      ],
    };
  },
};

/** Returns a sample of trading while blocks are mined. */
async function tradingAndMining(served: Served): Promise<() => Promise<number>> {
  const trade = await trading(served);
  const miner = await openSocket(served.port);
  return () => {
    const mining = setInterval(() => miner.send(call("evm_mine")), BLOCK_MS);
    return trade().finally(() => clearInterval(mining));
  };
}

/** Checks that a client with many subscriptions that does not read is disconnected. */
async function cutOff(port: number): Promise<string> {
  const socket = await openSocket(port);
  const batch = Array.from({ length: SUBSCRIPTIONS }, () => JSON.parse(call("eth_subscribe", "newHeads")));
  socket.send(JSON.stringify(batch));
  await once(socket, "message");
  socket.pause();
  const miner = await openSocket(port);
  miner.send(call("anvil_mine", BLOCKS_AT_ONCE));
  await delay(PAUSE_MS);
  const closed = once(socket, "close");
  socket.resume();
  const end = await Promise.race([closed, delay(DEADLINE_MS, null)]);
  miner.close();
  if (end === null) throw new Error("a client that does not read was not disconnected");
  const [code, reason] = end;
  return `cut off with ${code}: ${reason}`;
}

/** Returns the numbers of heads when no more arrive. */
async function settled(crowd: Task): Promise<readonly number[]> {
  for (let before = await crowd.ask(); ; ) {
    await delay(SETTLING_MS);
    const now = await crowd.ask();
    if (now.join() === before.join()) return now;
    before = now;
  }
}

/** Opens a WebSocket to the chain of a local server. */
async function openSocket(port: number): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/chain`);
  await once(socket, "open");
  return socket;
}

/** Returns a call with a unique id. */
const call = (method: string, ...params: readonly unknown[]): string =>
  JSON.stringify({ jsonrpc: "2.0", id: method, method, params });

/** Subscribers of new heads in a separate process. Returns the lowest and highest number of heads received by one. */
export const subscribers: ProcessTask<{ readonly port: number; readonly count: number }> = ({
  port,
  count,
}) => {
  const told = new Array<number>(count).fill(0);
  const open = async (index: number): Promise<void> => {
    const socket = await openSocket(port);
    const answered = once(socket, "message");
    socket.send(call("eth_subscribe", "newHeads"));
    await answered;
    socket.on("message", () => {
      told[index] = (told[index] as number) + 1;
    });
    socket.on("close", (code) => {
      throw new Error(`a subscriber was disconnected with ${code}`);
    });
  };
  const opened = (async () => {
    for (let index = 0; index < count; index += 1) await open(index);
  })();
  return async () => {
    await opened;
    return [Math.min(...told), Math.max(...told)];
  };
};

/** Cost of a reader of the live feed for trading clients. */
export const streamSection: Section = {
  name: "stream",
  about: "placing signed orders while one reader follows GET /sim/stream",
  unit: "as each row says",
  baseline: "nobody reads, in the same run",
  async measure(rounds, programs) {
    const alone = await programs.clobsim("--log-level", "silent");
    const followed = await programs.clobsim("--log-level", "silent");
    const reader = programs.task("streamReader", { port: followed.port });
    await reader.ask();
    const line = async (subject: string, served: Served) => {
      const trade = await trading(served);
      const costs: number[] = [];
      const sample = async (): Promise<number> => {
        const before = processorMs(served.pid);
        const thousands = await trade();
        costs.push((processorMs(served.pid) - before) / (thousands * (SAMPLE_MS / 1_000)));
        return thousands;
      };
      return { ...lineOf("thousand orders a second", subject, sample), costs };
    };
    const lines = [await line("nobody reads", alone), await line("one reader", followed)];
    const speeds = await measured(lines, { rounds, warmUps: 1 });
    await delay(SETTLING_MS);
    const [openings, latest, length = 0] = await reader.ask();
    const { sequence } = await replyTo<Info>(get("/sim"), followed.port);
    assert.deepEqual([openings, latest], [1, sequence], "the reader has fallen behind");
    const workload = "processor time of the server, μs an order";
    const costs = compared(lines.map(({ subject, costs: figures }) => ({ workload, subject, figures })));
    return {
      measurements: [...speeds, ...costs],
      notes: [
        `${CONNECTIONS} connections, each with one order under way; the reader is a process of its own, and was sent ${Math.round(length / 1_000_000)} MB without falling behind.`,
      ],
    };
  },
};

const TICK_MS = 10;

/** Returns the CPU time of a process in milliseconds, user and system: fields 14 and 15 of proc(5). */
function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** Reader of the live feed in a separate process. Returns the number of openings, the latest sequence number and all bytes. */
export const streamReader: ProcessTask<{ readonly port: number }> = ({ port }) => {
  let [openings, latest, length] = [0, 0, 0];
  // Parses as little as possible, because on few processors its CPU time is missing for the server.
  const take = (bytes: Buffer): void => {
    length += bytes.length;
    if (bytes.includes("\nevent: opening\n")) openings += 1;
    const at = bytes.lastIndexOf("\nid: ");
    if (at >= 0) latest = Number.parseInt(bytes.toString("latin1", at + 5, at + 30), 10);
  };
  const opened = new Promise<void>((resolve) => {
    request(`http://127.0.0.1:${port}/sim/stream`, (reply) =>
      reply.on("data", take).once("data", () => resolve()),
    ).end();
  });
  return async () => {
    await opened;
    return [openings, latest, length];
  };
};
