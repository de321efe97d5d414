import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import type { Config } from "../../src/config.ts";
import { onChainOf } from "../../src/core/account.ts";
import { CONTRACTS } from "../../src/core/chain/contracts.ts";
import type { Command } from "../../src/core/commands.ts";
import { findAccount } from "../../src/core/state.ts";
import type { Exchange } from "../../src/engine/exchange.ts";
import { contentHash } from "../../src/engine/hashes.ts";
import { isControl } from "../../src/engine/journal-line.ts";
import type { OpenedExchange } from "../../src/engine/open-exchange.ts";
import { anyChainMove } from "../core/chain/chain-moves.ts";
import { openArena } from "../core/properties/moves.ts";
import { addressOf } from "../support/commands.ts";
import { SimulatedDisk } from "../support/simulated-disk.ts";
import { flush, JOURNAL, journalLines, openOn, withoutLock } from "./support/persisted.ts";
import { takeMove, takeSteps, wait } from "./support/short-history.ts";

/*
 * The journals in fixtures/journals were written by an earlier version, and every later one must replay them to the
 * state whose hash their last line has. CLOBSIM_WRITE_JOURNALS=1 npx vitest run test/engine/golden-journals.test.ts writes
 * them again, which is right only if their format or the rules of the exchange have changed.
 */

const JOURNALS = new URL("../../fixtures/journals/", import.meta.url);

const REPLACED = "calls-replaced-after-a-reorganization";

interface History {
  readonly config: Partial<Config>;
  readonly play: (opened: OpenedExchange) => void;
}

/** Executes random moves of traders and on the chain, drawn from a seed. */
function playRandom(opened: OpenedExchange, seed: number, count: number): void {
  for (const move of fc.sample(anyChainMove, { seed, numRuns: count })) takeMove(opened, move);
}

const REORGANIZED: History = {
  config: { settlement: "auto", balances: "settled" },
  play: (opened) => {
    openArena(opened.exchange);
    playRandom(opened, 2, 140);
    opened.exchange.submit({ kind: "mineBlocks", count: 1 });
    opened.exchange.submit({ kind: "reorganizeChain", depth: 2 });
  },
};

/** Returns a wallet's transfer to dan. */
const pay = (from: string, usdc: number, nonce: number, gwei: number): Command => ({
  kind: "sendTransaction",
  from: addressOf(from),
  to: CONTRACTS.collateral,
  nonce,
  value: "0",
  gas: 60_000,
  maxFeePerGas: gwei * 1_000_000_000,
  maxPriorityFeePerGas: gwei * 500_000_000,
  input: "0x",
  call: { kind: "transfer", to: addressOf("dan"), amount: String(usdc * 1_000_000) },
  raw: null,
  hash: null,
});

const mine: Command = { kind: "mineBlocks", count: 1 };

function submitAll(exchange: Exchange, commands: readonly Command[]): void {
  for (const command of commands) exchange.submit(command);
}

/** Uses nonces of wallets again after the blocks that had them were replaced. */
function reuseNonces(opened: OpenedExchange): void {
  const exchange = openArena(opened.exchange);
  const reorganize: Command = { kind: "reorganizeChain", depth: 2 };
  const wallet = { address: addressOf("cat") };
  submitAll(exchange, [
    ...[mine, pay("ann", 10, 0, 2), mine, mine, reorganize, pay("ann", 1, 0, 3), mine],
    ...[pay("ben", 10, 0, 2), mine, { kind: "setNonce", address: addressOf("ben"), nonce: 0 } as const],
    ...[pay("ben", 3, 0, 2), mine, reorganize, mine, mine],
    ...[{ kind: "setNextBaseFee", baseFee: 2_000_000_000 } as const, reorganize, mine],
    ...[{ kind: "setNativeBalance", ...wallet, wei: String(10n ** 15n) } as const, pay("cat", 5, 0, 10)],
    ...[{ kind: "setNativeBalance", ...wallet, wei: "0" } as const, mine, mine, mine],
    { kind: "setNativeBalance", ...wallet, wei: String(10n ** 18n) } as const,
  ]);
  wait(opened, 10_000);
  exchange.submit(mine);
}

/** Sets a base fee before a reorganization by which a call loses its nonce. */
function keepBaseFee({ exchange }: OpenedExchange): void {
  openArena(exchange);
  submitAll(exchange, [
    ...[mine, pay("ben", 10, 0, 2), mine, { kind: "setNonce", address: addressOf("ben"), nonce: 0 } as const],
    ...[pay("ben", 3, 0, 2), mine, { kind: "setNextBaseFee", baseFee: 3_000_000_000 } as const],
    ...[{ kind: "reorganizeChain", depth: 2 } as const, mine, mine],
  ]);
}

/** Sets a lower base fee in a gas spike, in which a call waits. */
function lowerBaseFee(opened: OpenedExchange): void {
  const exchange = openArena(opened.exchange);
  const terms = { probability: 1_000_000, times: null, blocks: 0, baseFee: 500_000_000_000, reason: null };
  submitAll(exchange, [
    ...[{ kind: "setSettlementFault", fault: "gasSpike", ...terms } as const, pay("ann", 10, 0, 2), mine],
    { kind: "setNextBaseFee", baseFee: 1_000_000_000 } as const,
  ]);
  wait(opened, 10_000);
  exchange.submit(mine);
}

const HISTORIES: Readonly<Record<string, History>> = {
  "plain-trading": {
    config: {},
    play: (opened) => {
      takeSteps(opened, 60);
    },
  },
  "fees-independent-books-and-expiry": {
    config: { settlement: "instant" },
    play: (opened) => {
      openArena(opened.exchange);
      playRandom(opened, 1, 120);
    },
  },
  "settlement-faults-and-reorganizations": REORGANIZED,
  // The first with rules by which a reorganization reverts permissions.
  "permissions-restored-by-a-reorganization": REORGANIZED,
  "snapshots-restored-and-a-reset": {
    config: { settlement: "manual" },
    play: (opened) => {
      const { exchange } = opened;
      openArena(exchange);
      const first = exchange.snapshot();
      playRandom(opened, 3, 40);
      const second = exchange.snapshot();
      playRandom(opened, 4, 40);
      exchange.restore(first);
      playRandom(opened, 5, 20);
      exchange.restore(second);
      opened.reopen();
      openArena(exchange);
      playRandom(opened, 6, 40);
    },
  },
  // The first with rules by which received shares mint a grant; earlier journals need EARLIER_RULES.
  "grants-minted-by-shares-received": {
    config: { settlement: "auto" },
    play: (opened) => {
      openArena(opened.exchange);
      playRandom(opened, 7, 120);
    },
  },
  // The last with rules by which a replaced call stays in the ledger.
  [REPLACED]: { config: { settlement: "auto" }, play: reuseNonces },
  // The last with rules by which all blocks of a reorganization have a base fee that was set.
  "base-fee-kept-by-a-reorganization": { config: { settlement: "manual" }, play: keepBaseFee },
  // The last with rules by which a base fee that is set makes no block due.
  "base-fee-without-a-block": { config: { settlement: "auto" }, play: lowerBaseFee },
};

/** Content hashes of final states, for journals whose last line has the hash of the history. */
const CONTENT: Readonly<Record<string, string>> = {
  "base-fee-without-a-block": "3dd82b546b9ae8509ae84f27f950e044ee1a58bca7d6cd52f5d4c73e1202531c",
  "base-fee-kept-by-a-reorganization": "b97fe01ada9443cbaecfac10498617a4d3b95156ee1334ee8a8ba5d3c514a579",
  [REPLACED]: "1a50ba912b8e03e83051e577877d3580116800a623c05be51affce4f37f8aab3",
  "permissions-restored-by-a-reorganization":
    "fe828077b952eac2e4a266d91b8cd4f5f36bfdccac317b793e96cc940fe9e09c",
};

const KINDS = [
  ..."order cancel placeOrder cancelOrder expireOrder resolveMarket fundAccount restore reset clock close".split(
    " ",
  ),
  ..."setSettlementFault executeTransaction sendTransaction reorganizeChain".split(" "),
];

/** A journal with orders and cancels as in reports, with addresses and ids. */
const FROM_REPORT = "orders-in-full";
const NAMES = [...Object.keys(HISTORIES), FROM_REPORT];

async function write(name: string, { config, play }: History): Promise<void> {
  const disk = new SimulatedDisk();
  const opened = await openOn(disk, config);
  play(opened);
  await opened.close();
  writeFileSync(new URL(`${name}.ndjson`, JOURNALS), disk.image.get(JOURNAL) ?? new Uint8Array());
}

async function openJournal(name: string) {
  const journal = readFileSync(new URL(`${name}.ndjson`, JOURNALS));
  const disk = new SimulatedDisk(new Map([[JOURNAL, journal]]));
  return { journal, disk, opened: await openOn(disk) };
}

beforeAll(async () => {
  if (process.env.CLOBSIM_WRITE_JOURNALS === undefined) return;
  for (const [name, history] of Object.entries(HISTORIES)) await write(name, history);
});

describe("a journal of an earlier version", () => {
  it("exists with every kind of line", () => {
    expect(readdirSync(JOURNALS).sort()).toEqual(NAMES.map((name) => `${name}.ndjson`).sort());
    const journals = readdirSync(JOURNALS).map((name) => readFileSync(new URL(name, JOURNALS)));
    const kinds = new Set(journals.flatMap((journal) => journalLines(journal).map(({ k }) => k)));
    for (const kind of KINDS) expect(kinds).toContain(kind);
  });

  it.each(NAMES)("%s: replays to the recorded state", async (name) => {
    const { journal, opened } = await openJournal(name);
    const last = journalLines(journal).at(-1);
    if (last === undefined || !isControl(last, "close")) throw new Error("expected a closed journal");
    const hash = CONTENT[name] ?? last.d.hash;
    expect([contentHash(opened.exchange.state), opened.exchange.now]).toEqual([hash, last.t]);
    expect(opened.folder?.resumed?.torn).toBe(null);
  });

  it.each(NAMES)("%s: can be continued with the rules of this version", async (name) => {
    const { disk, opened } = await openJournal(name);
    playRandom(opened, 8, 60);
    await flush(opened);
    const { hash, now } = opened.exchange;
    const again = await openOn(new SimulatedDisk(withoutLock(disk.image)));
    expect(again.exchange).toMatchObject({ hash, now });
  });

  it(`${REPLACED}: what such a call left in the ledger is undone when a wallet spends its funds`, async () => {
    const { exchange } = (await openJournal(REPLACED)).opened;
    const funds = () => {
      const ann = findAccount(exchange.state, addressOf("ann"));
      return ann && [ann.collateral.balance, onChainOf(ann.collateral)];
    };
    expect(funds()).toEqual([9_989_000_000, 9_999_000_000]);
    exchange.submit(pay("ann", 9_999, 1, 2));
    exchange.submit(mine);
    expect(funds()).toEqual([0, 0]);
  });
});
