import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { onChainOf } from "../../src/core/account.ts";
import { CONTRACTS } from "../../src/core/chain/contracts.ts";
import { findAccount } from "../../src/core/state.ts";
import { contentHash } from "../../src/engine/hashes.ts";
import { isControl } from "../../src/engine/journal-line.ts";
import { anyChainMove } from "../core/chain/chain-moves.ts";
import { transfer } from "../core/chain/settlement-exchange.ts";
import { addressOf, callCommand } from "../support/commands.ts";
import { SimulatedDisk } from "../support/simulated-disk.ts";
import { flush, JOURNAL, journalLines, openOn, withoutLock } from "./support/persisted.ts";
import { takeMove } from "./support/short-history.ts";

/*
 * The journals in fixtures/journals were written by an earlier version, and every later one must replay them to the
 * state whose hash their last line has. To add one before a rule changes, serve with --data, use the rule, stop the server,
 * and copy its journal.ndjson.
 */

const JOURNALS = new URL("../../fixtures/journals/", import.meta.url);

const REPLACED = "calls-replaced-after-a-reorganization";

const NAMES = [
  "plain-trading",
  "fees-independent-books-and-expiry",
  "settlement-faults-and-reorganizations",
  // The first with rules by which a reorganization reverts permissions.
  "permissions-restored-by-a-reorganization",
  "snapshots-restored-and-a-reset",
  // The first with rules by which received shares mint a grant; earlier journals need EARLIER_RULES.
  "grants-minted-by-shares-received",
  // Nonces are used again after the blocks that had them were replaced. The last with rules by which a replaced call stays in
  // the ledger.
  REPLACED,
  // A call loses its nonce. The last with rules by which all blocks of a reorganization have a base fee that was set.
  "base-fee-kept-by-a-reorganization",
  // A call waits in a gas spike. The last with rules by which a base fee that is set makes no block due.
  "base-fee-without-a-block",
  // With addresses and ids of orders and cancels, as in reports.
  "orders-in-full",
];

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

async function openJournal(name: string) {
  const journal = readFileSync(new URL(`${name}.ndjson`, JOURNALS));
  const disk = new SimulatedDisk(new Map([[JOURNAL, journal]]));
  return { journal, disk, opened: await openOn(disk) };
}

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
    for (const move of fc.sample(anyChainMove, { seed: 8, numRuns: 60 })) takeMove(opened, move);
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
    const terms = { to: CONTRACTS.collateral, nonce: 1, maxPriorityFeePerGas: 1_000_000_000 };
    exchange.submit(callCommand(addressOf("ann"), transfer("dan", 9_999), terms));
    exchange.submit({ kind: "mineBlocks", count: 1 });
    expect(funds()).toEqual([0, 0]);
  });
});
