import { cp, rm } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DEFAULT_CONFIG } from "../../src/config.ts";
import { numberOf } from "../../src/core/ids.ts";
import { type OpenedExchange, openConfigured } from "../../src/engine/open-exchange.ts";
import { OrderClient } from "../engine/support/order-client.ts";
import type { MarketPage } from "../server/replies.ts";
import { fetchJson, TINY_WORLD } from "../support/http.ts";
import { Program } from "../support/program.ts";
import { stateHashes } from "../support/state-hashes.ts";

const CLIENTS = 8;
/** Number of kills per directory. */
const KILLS = 12;
/** After this many kills, and at the end, the program is stopped normally, and writes its state. */
const KILLS_PER_STOP = 5;

let program: Program;
beforeAll(async () => {
  program = await Program.built(["--log-level", "silent"]);
});
afterAll(() => program.dispose());

async function deriveClients(url: string): Promise<OrderClient[]> {
  const { data } = await fetchJson<MarketPage>(url, "/api/markets");
  const tokenId = data.find(({ status }) => status === "ACTIVE")?.tokens[0]?.tokenId ?? "";
  const numbers = Array.from({ length: CLIENTS }, (_, index) => index + 1);
  return Promise.all(numbers.map((number) => OrderClient.derived(url, number, tokenId)));
}

/** Requires that each order acknowledged since index `from` has a status that its client allows. */
async function assertAcknowledged(url: string, client: OrderClient, from: number): Promise<void> {
  for (const order of client.orders.slice(from)) {
    const found = await fetchJson<{ order?: { status: string } }>(url, `/sim/orders/${order.id}`);
    const { status } = found.order ?? { status: "unknown" };
    if (!client.mayBe(order, status)) throw new Error(`${order.id} is ${status}: ${JSON.stringify(order)}`);
  }
}

const reopen = (data: string): Promise<OpenedExchange> =>
  openConfigured({ ...DEFAULT_CONFIG, clock: { mode: "frozen" }, given: new Set(["clock"]), data }, () => {});

/** Opens a copy of a directory, with or without its state files, and returns the hashes of its state. */
async function hashOf(data: string, hasState: boolean): Promise<string> {
  const copy = `${data}-copy-${hasState}`;
  await cp(data, copy, { recursive: true });
  if (!hasState)
    for (const name of ["db.json", "db.previous.json"]) await rm(`${copy}/${name}`, { force: true });
  const opened = await reopen(copy);
  const hash = stateHashes(opened.exchange);
  await opened.close();
  return hash;
}

/** Signals that end each start: kills, with a normal stop after some of them and at the end. */
function* signals(): Generator<"SIGKILL" | "SIGTERM"> {
  for (let kill = 1; kill <= KILLS; kill += 1) {
    yield "SIGKILL";
    if (kill % KILLS_PER_STOP === 0) yield "SIGTERM";
  }
  yield "SIGTERM";
}

/** Kills the program repeatedly while its clients work. Returns the clients. */
async function killRepeatedly(data: string, durability: string): Promise<OrderClient[]> {
  let clients: OrderClient[] = [];
  let known: number[] = [];
  let kills = 0;
  for (const [turn, signal] of [...signals()].entries()) {
    const served = await program.serve(["--world", TINY_WORLD, "--data", data, "--durability", durability]);
    if (turn === 0) clients = await deriveClients(served.url);
    await Promise.all(
      clients.map((client, index) => assertAcknowledged(served.url, client, known[index] ?? 0)),
    );
    known = clients.map(({ orders }) => Math.max(0, orders.length - 1));
    let left = 20 + ((turn * 37) % 60);
    const answered = (): boolean => {
      left -= 1;
      if (left === 0) void served.end(signal);
      return left > 0 || signal === "SIGKILL";
    };
    await Promise.all(clients.map((client) => client.work(served.url, answered)));
    const ended = await served.ended;
    if (ended.signal === "SIGKILL") kills += 1;
    if (signal === "SIGTERM") expect([ended.code, ended.stderr]).toEqual([0, "clobsim: stopping\n"]);
  }
  expect(kills).toBe(KILLS);
  return clients;
}

describe("a program that is killed under eight clients", { concurrent: true }, () => {
  it.each([
    ["process", "one"],
    ["process", "another"],
    ["power", "a third"],
  ])("%s, %s directory: each acknowledged order exists exactly once", async (durability, name) => {
    const data = program.path(name);
    const clients = await killRepeatedly(data, durability);
    const opened = await reopen(data);
    const { state } = opened.exchange;
    const hash = stateHashes(opened.exchange);
    await opened.close();
    const ids = clients.flatMap(({ orders }) => orders.map(({ id }) => id));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThan(KILLS * 20);
    const made = ids.map((id) => {
      const { account, size } = state.orders.get(numberOf(state.idPrefixes.order, id));
      return `${account} ${size}`;
    });
    expect(new Set(made).size).toBe(ids.length);
    expect([await hashOf(data, true), await hashOf(data, false)]).toEqual([hash, hash]);
  });
});
