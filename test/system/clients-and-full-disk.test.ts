import { expect, it } from "vitest";
import { ExchangeClient } from "../../src/client/client.ts";
import type { SigningCredentials } from "../../src/client/connection.ts";
import { openTransport, type Transport } from "../../src/client/transport.ts";
import { serviceOf } from "../../src/compose.ts";
import { idOf } from "../../src/core/ids.ts";
import { tokenIdIn } from "../../src/core/market.ts";
import { Keyring } from "../../src/engine/keyring.ts";
import type { OpenedExchange } from "../../src/engine/open-exchange.ts";
import { HttpServer } from "../../src/server/http-server.ts";
import { ExchangeSite } from "../../src/server/site.ts";
import type { Durability } from "../../src/setting.ts";
import { atCalls, type DiskFault, FailingDisk, faultsOf } from "../engine/support/failing-disk.ts";
import { flush, openOn, persistedConfig, withoutLock } from "../engine/support/persisted.ts";
import { addressOf } from "../support/commands.ts";
import { TestExchange } from "../support/exchange.ts";
import { SimulatedDisk } from "../support/simulated-disk.ts";

const CLIENTS = 8;
/** Orders per client. Every third is canceled, and the client reads after each answer. */
const ORDERS = 5;
/** Before its first order, a client reads 0, 1 or 2 times its index, which differs from one failing call to the next. */
const STAGGERS = 3;

/** Requests that were answered with 200. */
interface Answered {
  readonly placed: string[];
  readonly canceled: string[];
  /** Highest sequence in any answer. */
  sequence: number;
  /** Number of 503 answers. */
  refused: number;
}

/** Opens an exchange with a market and eight funded wallets with credentials, and flushes it. */
async function openMarket(disk: SimulatedDisk, durability: Durability) {
  const opened = await openOn(disk, { durability });
  const { exchange } = opened;
  const testExchange = new TestExchange(exchange);
  testExchange.market();
  const keyring = new Keyring(exchange, exchange.state.config.seed);
  const wallets = Array.from({ length: CLIENTS }, (_, index) => {
    testExchange.act(`derive client${index}; fund client${index} usdc=1000`);
    return keyring.latest(addressOf(`client${index}`)) as SigningCredentials;
  });
  await flush(opened);
  return { opened, wallets };
}

/** A client that places, reads and cancels orders, each after the answer to the one before. */
async function work(
  url: string,
  credentials: SigningCredentials,
  { tokenId, seconds, readsBefore }: { tokenId: string; seconds: number; readsBefore: number },
  answered: Answered,
): Promise<void> {
  const { send, close } = openTransport(new URL(url), 30_000);
  const transport: Transport = async (request) => {
    const reply = await send(request);
    const { status, headers, text } = reply;
    if (status === 200) answered.sequence = Math.max(answered.sequence, Number(headers["x-sim-sequence"]));
    else if (status === 503) answered.refused += 1;
    else throw new Error(`${request.method} ${request.path}: ${status} ${text}`);
    return reply;
  };
  const client = new ExchangeClient(url, { transport, credentials, time: () => seconds });
  for (let count = 0; count < readsBefore; count += 1) await client.openOrders();
  for (let count = 1; count <= ORDERS; count += 1) {
    const placed = await client.place({ tokenId, side: "BUY", price: 0.01, size: count });
    if (placed.ok) answered.placed.push(placed.value.id);
    await client.openOrders();
    if (!placed.ok || count % 3 !== 0) continue;
    const canceled = await client.cancel(placed.value.id);
    if (canceled.ok) answered.canceled.push(placed.value.id);
  }
  close();
}

async function serve(
  { opened, wallets }: Awaited<ReturnType<typeof openMarket>>,
  stagger: number,
  answered: Answered,
) {
  const service = serviceOf(persistedConfig({ logLevel: "silent" }), opened);
  const http = new HttpServer(new ExchangeSite(service));
  const port = await http.listen({ host: "127.0.0.1", port: 0 });
  const { state, now } = opened.exchange;
  const terms = { tokenId: tokenIdIn(state.markets.get(1), "YES"), seconds: Math.floor(now / 1000) };
  const clients = wallets.map((keys, index) =>
    work(`http://127.0.0.1:${port}`, keys, { ...terms, readsBefore: index * stagger }, answered),
  );
  await Promise.all(clients);
  await http.close();
}

/** Runs eight clients on a disk that fails at the nth call. Everything acknowledged must be persisted. Returns whether it failed. */
async function hasFailedAt(nth: number, durability: Durability, fault: DiskFault) {
  const disk = new SimulatedDisk();
  const market = await openMarket(disk, durability);
  const failing = new FailingDisk(disk, fault, nth);
  const answered: Answered = { placed: [], canceled: [], sequence: 0, refused: 0 };
  await serve(market, nth % STAGGERS, answered);
  if (!failing.hasFailed) return false;
  const after =
    durability === "power" ? disk.afterPowerFailure({ names: (all) => all, data: () => [] }) : disk.image;
  assertPersisted(await openOn(new SimulatedDisk(withoutLock(after)), { durability }), answered);
  const isRefused = fault.how !== "short" || fault.isPermanent;
  if (isRefused) expect(answered.refused).toBeGreaterThan(0);
  return true;
}

function assertPersisted({ exchange }: OpenedExchange, { placed, canceled, sequence }: Answered): void {
  const { orders, idPrefixes } = exchange.state;
  const found = new Map([...orders].map(({ number, status }) => [idOf(idPrefixes.order, number), status]));
  const isLost = (id: string): boolean =>
    !found.has(id) || (canceled.includes(id) && found.get(id) !== "CANCELED");
  expect(placed.filter(isLost).map((id) => `${id}: ${found.get(id)}`)).toEqual([]);
  expect(exchange.sequence).toBeGreaterThanOrEqual(sequence);
}

it.each<Durability>(["process", "power"])(
  "eight clients with durability %s: any write or sync may fail, and everything acknowledged is persisted",
  async (durability) => {
    let runs = 0;
    for (const fault of faultsOf(["write", "sync"]))
      runs += await atCalls(fault, (nth) => hasFailedAt(nth, durability, fault));
    expect(runs).toBeGreaterThanOrEqual(80);
  },
);
