import assert from "node:assert";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { bombard, bytesOf, crossingOrders } from "../http/client.ts";
import { buildProgram, type Served, serveClobsim } from "../programs.ts";
import { median, takeTurns } from "../rounds.ts";
import { measurementOf, type Section } from "../section.ts";
import { SeparateProcess } from "../separate-process.ts";
import { call, openSocket } from "./subscribers.ts";

const SUBSCRIBERS = 1_000;
const CONNECTIONS = 32;
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

/** Cost of newHeads notifications for trading clients. */
export const subscribersSection: Section = {
  name: "subscribers",
  about: `placing signed orders while ${figure(SUBSCRIBERS)} WebSockets are told of new heads`,
  async measure(rounds) {
    await buildProgram();
    const alone = await serveClobsim("--log-level", "silent");
    const watched = await serveClobsim("--log-level", "silent");
    const crowd = new SeparateProcess("subscribers", { port: watched.port, count: SUBSCRIBERS });
    try {
      await crowd.ask();
      const subjects = await Promise.all([alone, watched].map(trading));
      const samples = await takeTurns(subjects, { rounds, warmUps: 1 });
      const end = await cutOff(watched.port);
      const [fewest = 0, most = 0] = await settled(crowd);
      assert(fewest === most && fewest > 0, `a subscriber was told ${fewest} heads, another one ${most}`);
      const baseline = median(samples[0] ?? []);
      return {
        unit: "thousand orders/s",
        baseline: "nobody subscribed, in the same run",
        rounds,
        measurements: ["nobody subscribed", `${figure(SUBSCRIBERS)} subscribers`].map((subject, index) =>
          measurementOf("POST /clob/order, signed", subject, samples[index] ?? [], baseline),
        ),
        notes: [
          `${CONNECTIONS} connections, each with one order under way, and a block every ${BLOCK_MS / 1_000} s; the subscribers are one process of its own.`,
          `Each of them was told all ${fewest} heads. One more that read nothing was ${end}.`,
        ],
      };
    } finally {
      await Promise.all([crowd.stop(), alone.stop(), watched.stop()]);
    }
  },
};

/** Thousand orders per second while blocks are mined. */
async function trading({ port }: Served): Promise<() => Promise<number>> {
  const { buy, sell } = await crossingOrders(port);
  const requests = [buy, sell].map((each) => bytesOf(each, port));
  const miner = await openSocket(port);
  return async () => {
    const mining = setInterval(() => miner.send(call("evm_mine")), BLOCK_MS);
    const load = { port, requests, connections: CONNECTIONS, durationMs: SAMPLE_MS };
    const { requestsPerSecond } = await bombard(load).finally(() => clearInterval(mining));
    return requestsPerSecond / 1_000;
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
async function settled(crowd: SeparateProcess): Promise<readonly number[]> {
  for (let before = await crowd.ask(); ; ) {
    await delay(SETTLING_MS);
    const now = await crowd.ask();
    if (now.join() === before.join()) return now;
    before = now;
  }
}

function figure(count: number): string {
  return count.toLocaleString("en-US");
}
