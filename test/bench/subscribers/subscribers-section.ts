import assert from "node:assert";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { Apart } from "../apart.ts";
import { bombard, bytesOf, crossingOrders } from "../http/client.ts";
import { buildProgram, type Served, serveClobsim } from "../programs.ts";
import { median, takeTurns } from "../rounds.ts";
import { measurementOf, type Section } from "../section.ts";
import { call, openSocket } from "./subscribers.ts";

const SUBSCRIBERS = 1_000;
const CONNECTIONS = 32;
const SAMPLE_MS = 2_000;
/** Twice as often as blocks come by themselves. */
const BLOCK_MS = 1_000;
/** So many subscriptions of one connection, each told of so many blocks at once, are more than all buffers on the way hold. */
const SUBSCRIPTIONS = 1_000;
const BLOCKS_AT_ONCE = 40;
/** How long it reads nothing: it is told to go 10 s after its buffer is full, and has 10 s more to hear that. */
const PAUSE_MS = 16_000;
const DEADLINE_MS = 30_000;
const SETTLING_MS = 500;

/** What telling new heads costs those that trade. */
export const subscribersSection: Section = {
  name: "subscribers",
  about: `placing signed orders while ${figure(SUBSCRIBERS)} WebSockets are told of new heads`,
  async measure(rounds) {
    await buildProgram();
    const alone = await serveClobsim("--log-level", "silent");
    const watched = await serveClobsim("--log-level", "silent");
    const crowd = new Apart("subscribers", { port: watched.port, count: SUBSCRIBERS });
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

/** Thousand orders a second while blocks are mined. */
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

/** What becomes of a client that subscribes a lot and then reads nothing. */
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
  if (end === null) throw new Error("a client that read nothing was not cut off");
  const [code, reason] = end;
  return `cut off with ${code}: ${reason}`;
}

/** What the subscribers were told, once nothing more comes. */
async function settled(crowd: Apart): Promise<readonly number[]> {
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
