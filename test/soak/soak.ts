import { statSync } from "node:fs";
import { join } from "node:path";
import { ExchangeClient } from "../../src/client/client.ts";
import type { Market } from "../../src/client/messages.ts";
import { orThrow } from "../../src/client/result.ts";
import { mulberry32 } from "../bench/mulberry32.ts";
import type { Program } from "../support/program.ts";
import { Acknowledged, type Surroundings } from "./clients/trader.ts";
import { Crew } from "./crew.ts";
import type { CrashFigures, EndFigures, Figures, PhaseFigures } from "./figures.ts";
import { Meter, Tally } from "./meter.ts";
import type { Phase } from "./plan.ts";
import { SoakServer } from "./server.ts";

/** How a soak is run. */
export interface SoakChoice {
  readonly program: Program;
  /** The path of `memory-probe.mjs`. */
  readonly probe: string;
  readonly plan: readonly Phase[];
  readonly clients: number;
  /** Requests a second of all clients together; 0: each as soon as the one before is answered. */
  readonly rate: number;
  readonly seed: number;
  /** Is told of the phase that begins. */
  readonly watch?: (phase: Phase, server: SoakServer, meter: Meter) => void;
  /** Is called when the server has stopped, before its directory is examined. */
  readonly beforeReplay?: (data: string) => void;
}

const MARKETS = 6;

/** Runs all phases of a plan against a server of its own and answers the figures. @throws Error when it cannot go on. */
export async function runSoak(choice: SoakChoice): Promise<Figures> {
  const server = new SoakServer(choice.program, choice.probe);
  const meter = new Meter();
  const record = new Acknowledged();
  const markets = await openMarkets(server, choice.seed);
  const surroundings = (index: number): Surroundings => ({
    random: mulberry32(choice.seed * 1_000 + index),
    markets,
    serverTime: meter.serverTime,
    record,
  });
  const crew = await Crew.hire(server, meter, surroundings, choice);
  const phases: PhaseFigures[] = [];
  let crash: CrashFigures = { checked: 0, contradictions: [] };
  for (const phase of choice.plan) {
    meter.tally = new Tally();
    record.begin(phase.kind === "crash");
    choice.watch?.(phase, server, meter);
    const start = performance.now();
    await crew.work(phase);
    const seconds = (performance.now() - start) / 1_000;
    server.assertRunning();
    const injected = phase.kind === "disturbed" ? await crew.endDisturbances() : new Map();
    if (phase.kind === "crash") crash = await withControl(server, (control) => verify(record, control));
    phases.push(await lookAt(phase, server, meter.tally, { seconds, injected, before: phases }));
  }
  const disturbances = Object.fromEntries(crew.disturbances);
  return { phases, crash, disturbances, end: await endOf(server, choice) };
}

/** Does something by a client of its own, which is gone afterwards. */
async function withControl<Value>(
  server: SoakServer,
  act: (control: ExchangeClient) => Promise<Value>,
): Promise<Value> {
  const control = new ExchangeClient((await server.ready).url, { timeoutMs: CONTROL_TIMEOUT_MS });
  try {
    return await act(control);
  } finally {
    control.close();
  }
}

const CONTROL_TIMEOUT_MS = 120_000;

function openMarkets(server: SoakServer, seed: number): Promise<Market[]> {
  return withControl(server, async ({ control }) => {
    const markets: Market[] = [];
    for (let number = 1; number <= MARKETS; number += 1) {
      markets.push(
        orThrow(await control.createMarket({ question: `Will soak ${seed} pass in market ${number}?` })),
      );
    }
    return markets;
  });
}

/** Compares every order of the record with the one that the server has. */
async function verify(record: Acknowledged, { control }: ExchangeClient): Promise<CrashFigures> {
  const contradictions: string[] = [];
  for (const told of record.orders.values()) {
    const found = await control.order(told.id);
    const contradiction = record.contradiction(told, found.ok ? found.value.order : null);
    if (contradiction !== null) contradictions.push(contradiction);
  }
  return { checked: record.orders.size, contradictions };
}

interface Around {
  readonly seconds: number;
  readonly injected: ReadonlyMap<number, number>;
  readonly before: readonly PhaseFigures[];
}

/** The figures of a phase, with a look at the server while nobody else asks it. */
async function lookAt(
  { kind, cycle }: Phase,
  server: SoakServer,
  tally: Tally,
  { seconds, injected, before }: Around,
): Promise<PhaseFigures> {
  const violations = await withControl(server, broken);
  const descriptors = await server.quietDescriptors();
  // When the last connection has closed: each keeps what it reads into.
  const { rss, heapUsed, external } = await server.memory();
  return {
    ...{ kind, cycle, life: server.lives, seconds, requests: tally.requests, latencies: tally.latencies },
    accepted: (before.at(-1)?.accepted ?? 0) + tally.accepted,
    failures: Object.fromEntries(tally.failures),
    injected: Object.fromEntries(injected),
    refusals: Object.fromEntries(tally.refusals),
    examples: Object.fromEntries(tally.examples),
    liveBytes: heapUsed + external,
    residentBytes: rss,
    descriptors,
    violations,
  };
}

/** What the server says against its invariants. */
async function broken({ control }: ExchangeClient): Promise<string[]> {
  const { invariants } = orThrow(await control.invariants());
  return invariants.flatMap(({ name, holds, differences }) =>
    holds ? [] : [`${name}: ${differences.join("; ")}`],
  );
}

/** Stops the server in good order and examines what it kept. */
async function endOf(server: SoakServer, { beforeReplay }: SoakChoice): Promise<EndFigures> {
  const toldHash = await withControl(server, async ({ control }) => {
    // Else an order could expire between the hash and the stop.
    orThrow(await control.setClock({ mode: "frozen" }));
    return orThrow(await control.stateHash()).hash;
  });
  const stopped = await server.stop();
  beforeReplay?.(server.data);
  const replayed = await server.examine("replay");
  const doctor = await server.examine("doctor");
  return {
    toldHash,
    replayedHash: /^ {2}state (\S+)$/m.exec(replayed.stdout)?.[1] ?? null,
    stopCode: stopped.code,
    replayCode: replayed.code,
    doctorCode: doctor.code,
    said: [stopped, replayed, doctor].map(({ stderr }) => stderr).join(""),
    defects: server.defects(),
    journalBytes: statSync(join(server.data, "journal.ndjson")).size,
  };
}
