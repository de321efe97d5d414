import type { ExchangeClient } from "../../../src/client/client.ts";
import { type Client, pick, type Random, type Surroundings } from "./trader.ts";

/** The most snapshots that it keeps at a time. */
const SNAPSHOTS = 3;

/** Disturbs the others by the control plane: snapshots and restores, faults, clock, blocks. */
export class DisturbingClient implements Client {
  readonly #at: Surroundings;
  #snapshots: string[] = [];
  /** How often each of its deeds was done. */
  readonly done = new Map<string, number>();

  constructor(surroundings: Surroundings) {
    this.#at = surroundings;
  }

  begin(): void {
    this.#snapshots = [];
  }

  async step(exchange: ExchangeClient): Promise<void> {
    const { random } = this.#at;
    const [name, disturb] = pick(random, DISTURBANCES);
    this.done.set(name, (this.done.get(name) ?? 0) + 1);
    await disturb(exchange, random, this.#snapshots);
  }

  /** Ends all that it has begun, and answers how often its faults made requests fail, by status (0: no answer). */
  async end({ control }: ExchangeClient): Promise<Map<number, number>> {
    const fired = new Map<number, number>();
    const faults = await control.faults({ limit: 500 });
    for (const { status, drop, fired: times } of faults.ok ? faults.value.data : []) {
      const key = drop === null ? status : 0;
      if (key !== null) fired.set(key, (fired.get(key) ?? 0) + times);
    }
    await control.clearFaults();
    await control.chain.clearFaults();
    await control.chain.bump();
    for (const id of this.#snapshots) await control.deleteSnapshot(id);
    await control.setClock({ mode: "real" });
    return fired;
  }
}

type Disturb = (exchange: ExchangeClient, random: Random, snapshots: string[]) => Promise<unknown>;

const DISTURBANCES: readonly (readonly [string, Disturb])[] = [
  ["snapshot", takeSnapshot],
  ["snapshot", takeSnapshot],
  [
    "restore",
    async ({ control }, random, snapshots) => {
      if (snapshots.length > 0) await control.restore(pick(random, snapshots));
    },
  ],
  [
    "status",
    ({ control }, random) => control.addFault({ ...routed(random), status: pick(random, STATUSES) }),
  ],
  ["drop", ({ control }, random) => control.addFault({ ...routed(random), drop: pick(random, DROPS) })],
  ["latency", ({ control }, random) => control.addFault({ ...routed(random), latency: "150ms" })],
  [
    "settlement fault",
    ({ control }, random) =>
      control.chain.addFault({ kind: pick(random, SETTLEMENT_FAULTS), times: 1 + random(5) }),
  ],
  ["gas spike", ({ control }) => control.chain.addFault({ kind: "gas-spike" })],
  ["bump", ({ control }) => control.chain.bump()],
  ["reorg", ({ control }) => control.chain.addFault({ kind: "reorg", depth: 1 })],
  ["advance", ({ control }, random) => control.setClock({ advance: `${1 + random(20)}s` })],
  ["freeze", ({ control }) => control.setClock({ mode: "frozen" })],
  ["run", ({ control }) => control.setClock({ mode: "real" })],
  ["speed", ({ control }) => control.setClock({ mode: "scaled", rate: 5 })],
  ["mine", ({ control }, random) => control.chain.mine(1 + random(3))],
  ["invariants", ({ control }) => control.invariants()],
  ["accounts", ({ control }) => control.accounts({ limit: 50 })],
];

const STATUSES = [429, 500, 502, 503, 504] as const;
const DROPS = ["connection", "reply"] as const;
const SETTLEMENT_FAULTS = ["fail", "retry", "delay", "ghost"] as const;
const ROUTES = ["*", "POST /clob/order", "GET /clob/book", "GET /api/markets", "POST /chain"];

/** Strikes a few requests of a route. */
const routed = (random: Random) => ({ route: pick(random, ROUTES), times: 1 + random(10), probability: 0.2 });

async function takeSnapshot(
  { control }: ExchangeClient,
  _random: Random,
  snapshots: string[],
): Promise<void> {
  const taken = await control.snapshot();
  if (taken.ok) snapshots.push(taken.value.id);
  if (snapshots.length > SNAPSHOTS) await control.deleteSnapshot(snapshots.shift() as string);
}
