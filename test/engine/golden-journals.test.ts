import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import type { Config } from "../../src/config.ts";
import { onChainOf } from "../../src/core/account.ts";
import { CONTRACTS } from "../../src/core/chain/contracts.ts";
import type { Command } from "../../src/core/commands.ts";
import { findAccount } from "../../src/core/state.ts";
import type { Snapshot } from "../../src/engine/exchange.ts";
import { contentHash } from "../../src/engine/hashes.ts";
import { isControl } from "../../src/engine/journal-line.ts";
import type { OpenedExchange } from "../../src/engine/open-exchange.ts";
import { anyChainMove } from "../core/chain/chain-moves.ts";
import { transfer } from "../core/chain/settlement-exchange.ts";
import { openArena } from "../core/properties/moves.ts";
import { addressOf, callCommand, commandIn, parametersIn } from "../support/commands.ts";
import { SimulatedDisk } from "../support/simulated-disk.ts";
import { flush, JOURNAL, journalLines, openNew, openOn, withoutLock } from "./support/persisted.ts";
import { takeMove, takeSteps, wait } from "./support/short-history.ts";

/*
 * The journals in fixtures/journals were written by an earlier version, and every later one must replay them to the
 * state whose hash their last line has. CLOBSIM_WRITE_JOURNALS=1 npx vitest run test/engine/golden-journals.test.ts writes
 * them again, which is right only if their format or the rules of the exchange have changed.
 */

const JOURNALS = new URL("../../fixtures/journals/", import.meta.url);

const REPLACED = "calls-replaced-after-a-reorganization";

/** Returns a wallet's transfer to dan. */
const pay = (from: string, usdc: number, nonce: number, gwei: number): Command =>
  callCommand(addressOf(from), transfer("dan", usdc), {
    ...{ to: CONTRACTS.collateral, nonce, gas: 60_000 },
    ...{ maxFeePerGas: gwei * 1_000_000_000, maxPriorityFeePerGas: gwei * 500_000_000 },
  });

/**
 * Plays a history in words: opens the arena, executes random moves of a seed, steps of the short history, snapshots that are
 * kept and restored by number, a reset, a wait in milliseconds, transfers, and the commands of `commandIn`.
 */
function play(opened: OpenedExchange, words: string): void {
  const { exchange } = opened;
  const kept: Snapshot[] = [];
  for (const text of words.split("; ")) {
    const [verb, first = "", second] = text.split(" ");
    const [count, other] = [Number(first), Number(second)];
    if (verb === "arena") openArena(exchange);
    else if (verb === "random") playRandom(opened, count, other);
    else if (verb === "steps") takeSteps(opened, count);
    else if (verb === "keep") kept.push(exchange.snapshot());
    else if (verb === "restore") exchange.restore(kept[count - 1] as Snapshot);
    else if (verb === "reset") opened.reopen();
    else if (verb === "wait") wait(opened, count);
    else if (verb === "pay") {
      const { nonce, gwei } = parametersIn(text);
      exchange.submit(pay(first, other, Number(nonce), Number(gwei)));
    } else exchange.submit(commandIn(text, 1) as Command);
  }
}

/** Executes random moves of traders and on the chain, drawn from a seed. */
function playRandom(opened: OpenedExchange, seed: number, count: number): void {
  for (const move of fc.sample(anyChainMove, { seed, numRuns: count })) takeMove(opened, move);
}

type History = readonly [config: Partial<Config>, words: string];

const REORGANIZED: History = [
  { settlement: "auto", balances: "settled" },
  "arena; random 2 140; mine; reorg 2",
];

const HISTORIES: Readonly<Record<string, History>> = {
  "plain-trading": [{}, "steps 60"],
  "fees-independent-books-and-expiry": [{ settlement: "instant" }, "arena; random 1 120"],
  "settlement-faults-and-reorganizations": REORGANIZED,
  // The first with rules by which a reorganization reverts permissions.
  "permissions-restored-by-a-reorganization": REORGANIZED,
  "snapshots-restored-and-a-reset": [
    { settlement: "manual" },
    "arena; keep; random 3 40; keep; random 4 40; restore 1; random 5 20; restore 2; reset; arena; random 6 40",
  ],
  // The first with rules by which received shares mint a grant; earlier journals need EARLIER_RULES.
  "grants-minted-by-shares-received": [{ settlement: "auto" }, "arena; random 7 120"],
  // Nonces are used again after the blocks that had them were replaced. The last with rules by which a replaced call stays in
  // the ledger.
  [REPLACED]: [
    { settlement: "auto" },
    "arena; mine; pay ann 10 nonce=0 gwei=2; mine; mine; reorg 2; pay ann 1 nonce=0 gwei=3; mine; " +
      "pay ben 10 nonce=0 gwei=2; mine; nonce ben to=0; pay ben 3 nonce=0 gwei=2; mine; reorg 2; mine; mine; " +
      "base-fee 2; reorg 2; mine; ether cat wei=1000000000000000; pay cat 5 nonce=0 gwei=10; " +
      "ether cat wei=0; mine; mine; mine; ether cat wei=1000000000000000000; wait 10000; mine",
  ],
  // A call loses its nonce. The last with rules by which all blocks of a reorganization have a base fee that was set.
  "base-fee-kept-by-a-reorganization": [
    { settlement: "manual" },
    "arena; mine; pay ben 10 nonce=0 gwei=2; mine; nonce ben to=0; pay ben 3 nonce=0 gwei=2; mine; " +
      "base-fee 3; reorg 2; mine; mine",
  ],
  // A call waits in a gas spike. The last with rules by which a base fee that is set makes no block due.
  "base-fee-without-a-block": [
    { settlement: "auto" },
    "arena; fault gas-spike; pay ann 10 nonce=0 gwei=2; mine; base-fee 1; wait 10000; mine",
  ],
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

async function write(name: string, [config, words]: History): Promise<void> {
  const { disk, opened } = await openNew(config);
  play(opened, words);
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
    expect(opened.folder?.resumed?.warnings).toEqual([]);
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
    exchange.submit({ kind: "mineBlocks", count: 1 });
    expect(funds()).toEqual([0, 0]);
  });
});
