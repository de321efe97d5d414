import { once } from "node:events";
import { Agent, request } from "node:http";
import { describe, expect, it } from "vitest";
import { serviceOf } from "../../src/compose.ts";
import { idOf, numberOf } from "../../src/core/ids.ts";
import { tokenIdIn } from "../../src/core/market.ts";
import { money, size } from "../../src/core/units.ts";
import type { CredentialSet } from "../../src/engine/keyring.ts";
import { Keyring } from "../../src/engine/keyring.ts";
import type { OpenedExchange } from "../../src/engine/open-exchange.ts";
import { HttpService } from "../../src/server/http-server.ts";
import { ExchangeSite } from "../../src/server/site.ts";
import type { Durability } from "../../src/setting.ts";
import { type DiskFault, FailingDisk, faultsOf } from "../engine/support/failing-disk.ts";
import { openOn, persistedConfig, withoutLock } from "../engine/support/persisted.ts";
import { hmac } from "../server/trader.ts";
import { addressOf, eventCommand, marketCommand } from "../support/commands.ts";
import { SimulatedDisk } from "../support/simulated-disk.ts";

const CLIENTS = 8;
/** Orders per client. Every third is canceled, and the client reads after each answer. */
const ORDERS = 5;
/** Numbers of reads before the first order, multiplied by the index of the client. */
const STAGGERS = [0, 1, 2];

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
  const exchange = await openOn(disk, { durability });
  exchange.exchange.submit(eventCommand("event"));
  exchange.exchange.submit(marketCommand("market"));
  const keyring = new Keyring(exchange.exchange, exchange.exchange.state.config.seed);
  const wallets = Array.from({ length: CLIENTS }, (_, index) => {
    const address = addressOf(`client${index}`);
    exchange.exchange.submit({ kind: "deriveCredentials", address });
    const collateral = money(1_000_000_000);
    exchange.exchange.submit({ kind: "fundAccount", address, collateral, tokens: [], everyMarket: size(0) });
    return keyring.latest(address);
  });
  await exchange.persistence.flush(exchange.persistence.position);
  return { exchange, wallets };
}

interface Reply {
  readonly status: number;
  readonly sequence: number;
  readonly text: string;
}

/** A client on one connection, which places, reads and cancels orders. */
class Client {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #port: number;
  readonly #keys: CredentialSet;
  readonly #time: string;
  readonly #answered: Answered;

  constructor(port: number, keys: CredentialSet, time: string, answered: Answered) {
    this.#port = port;
    this.#keys = keys;
    this.#time = time;
    this.#answered = answered;
  }

  async work(tokenId: string, readsBefore: number): Promise<void> {
    for (let count = 0; count < readsBefore; count += 1) await this.#send("GET", "/orders", "");
    for (let count = 1; count <= ORDERS; count += 1) {
      const order = { tokenId, side: "BUY", price: 0.01, size: count };
      const reply = await this.#send("POST", "/order", JSON.stringify(order));
      const { id } = JSON.parse(reply.text) as { id: string };
      if (reply.status === 200) this.#answered.placed.push(id);
      await this.#send("GET", "/orders", "");
      if (reply.status !== 200 || count % 3 !== 0) continue;
      const canceled = await this.#send("DELETE", "/order", JSON.stringify({ orderId: id }));
      if (canceled.status === 200) this.#answered.canceled.push(id);
    }
    this.#agent.destroy();
  }

  async #send(method: string, path: string, body: string): Promise<Reply> {
    const headers = {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      poly_address: this.#keys.address,
      poly_api_key: this.#keys.apiKey,
      poly_passphrase: this.#keys.passphrase,
      poly_timestamp: this.#time,
      poly_signature: hmac(this.#keys.secret, `${this.#time}${method}${path}${body}`),
    };
    const pending = request({
      ...{ port: this.#port, host: "127.0.0.1", agent: this.#agent },
      ...{ method, path: `/clob${path}`, headers },
    });
    pending.end(body);
    const [response] = await once(pending, "response");
    let text = "";
    for await (const chunk of response) text += String(chunk);
    const reply = { status: response.statusCode, sequence: Number(response.headers["x-sim-sequence"]), text };
    if (reply.status === 200) this.#answered.sequence = Math.max(this.#answered.sequence, reply.sequence);
    else if (reply.status === 503) this.#answered.refused += 1;
    else throw new Error(`${method} ${path}: ${reply.status} ${text}`);
    return reply;
  }
}

async function serve(
  { exchange, wallets }: Awaited<ReturnType<typeof openMarket>>,
  stagger: number,
  answered: Answered,
) {
  const service = serviceOf(persistedConfig({ logLevel: "silent" }), exchange);
  const http = new HttpService(new ExchangeSite(service));
  const port = await http.listen({ host: "127.0.0.1", port: 0 });
  const { state, now } = exchange.exchange;
  const tokenId = tokenIdIn(state.markets.get(1), "YES");
  const time = String(Math.floor(now / 1000));
  const clients = wallets.map((keys) => new Client(port, keys, time, answered));
  await Promise.all(clients.map((client, index) => client.work(tokenId, index * stagger)));
  await http.close();
}

/** Runs eight clients on a disk that fails at the nth call. Everything acknowledged must be persisted. Returns whether it failed. */
async function tryFault(
  durability: Durability,
  stagger: number,
  fault: DiskFault,
  nth: number,
): Promise<boolean> {
  const disk = new SimulatedDisk();
  const market = await openMarket(disk, durability);
  const failing = new FailingDisk(disk, fault, nth);
  const answered: Answered = { placed: [], canceled: [], sequence: 0, refused: 0 };
  await serve(market, stagger, answered);
  if (!failing.hasFailed) return false;
  const after =
    durability === "power" ? disk.afterPowerFailure({ names: (all) => all, data: () => [] }) : disk.image;
  expectPersisted(await openOn(new SimulatedDisk(withoutLock(after)), { durability }), answered);
  const isRefused = fault.how !== "short" || fault.isPermanent;
  if (isRefused) expect(answered.refused).toBeGreaterThan(0);
  return true;
}

function expectPersisted({ exchange }: OpenedExchange, { placed, canceled, sequence }: Answered): void {
  const { orders, idPrefixes } = exchange.state;
  const found = new Map([...orders].map(({ number, status }) => [idOf(idPrefixes.order, number), status]));
  const mustBeCanceled = new Set(canceled);
  const lost = placed.filter(
    (id) => !found.has(id) || (mustBeCanceled.has(id) && found.get(id) !== "CANCELED"),
  );
  expect(lost.map((id) => `order ${numberOf(idPrefixes.order, id)}: ${found.get(id)}`)).toEqual([]);
  expect(exchange.sequence).toBeGreaterThanOrEqual(sequence);
}

/** Lets the disk fail at each call in turn. Returns the number of calls. */
async function tryEveryCall(durability: Durability, stagger: number, fault: DiskFault): Promise<number> {
  for (let nth = 1; ; nth += 1) {
    const hasFailed = await tryFault(durability, stagger, fault, nth).catch((error: Error) => {
      throw new Error(`${JSON.stringify(fault)}, call ${nth}: ${error.stack}`);
    });
    if (!hasFailed) return nth - 1;
  }
}

describe("eight clients when the disk fails", () => {
  it.each<Durability>(["process", "power"])(
    "%s: any write or sync may fail, and everything acknowledged is persisted",
    async (durability) => {
      let runs = 0;
      for (const fault of faultsOf(["write", "sync"])) {
        for (const stagger of STAGGERS) runs += await tryEveryCall(durability, stagger, fault);
      }
      expect(runs).toBeGreaterThanOrEqual(250);
    },
    180_000,
  );
});
