import { describe, expect, it } from "vitest";
import type { CommandOf } from "../../../src/core/commands.ts";
import { sha256Hex } from "../../../src/core/hash.ts";
import { parseDocument, readDocument } from "../../../src/core/rebuild-state.ts";
import type { State } from "../../../src/core/state.ts";
import { documentLines } from "../../../src/core/state-document.ts";
import { Exchange } from "../../../src/engine/exchange.ts";
import { contentHash } from "../../../src/engine/hashes.ts";
import { generateWorld } from "../../../src/simulation/generate-world.ts";
import { openWorld } from "../../../src/simulation/opening.ts";
import { eventCommand } from "../../support/commands.ts";
import { openFundedExchange, START } from "../../support/exchange.ts";
import { forAll, runs } from "../../support/runs.ts";
import { anySettlement, arenaWith, histories, openWith, play } from "../chain/chain-moves.ts";
import { ARENA } from "../properties/moves.ts";
import { type Json, parsedOf, sorted, textOf } from "./damaged-documents.ts";
import { parsed, readBack, requireEqual } from "./read-back.ts";

/** State with orders and settled trades. */
function usedState(): State {
  const testExchange = openFundedExchange({ feeRateBps: 100 });
  testExchange.send("alice BUY 10 YES @ 0.5 GTD 1h", "bob SELL 3 YES @ 0.5", "bob BUY 4 NO @ 0.5");
  testExchange.exchange.submit({ kind: "mineBlocks", count: 2 });
  return testExchange.state;
}

/** Puts a line feed and a space around each JSON token that is not a string. */
const lineForEachToken = (text: string): string =>
  text.replace(/"(?:[^"\\]|\\.)*"|[{}[\]:,]/g, (part) => (part.startsWith('"') ? part : `\n${part} `));

/** Formats of a document that are read after JSON.parse. */
const PRINTERS: readonly [name: string, print: (text: string) => string][] = [
  ["as it is written", (text) => text],
  ["with carriage returns", (text) => text.replaceAll("\n", "\r\n")],
  ["on one line", (text) => JSON.stringify(parsedOf(text))],
  ["indented by two", (text) => JSON.stringify(parsedOf(text), null, 2)],
  ["indented by tabs", (text) => JSON.stringify(parsedOf(text), null, "\t")],
  ["with all names sorted", (text) => JSON.stringify(sorted(parsedOf(text)), null, 1)],
  ["with a line per token", lineForEachToken],
];

it("the default world is read back", async () => {
  const exchange = new Exchange(ARENA, START);
  openWorld(exchange, await generateWorld({ seed: "1" }), START);
  requireEqual(readBack(exchange.state), exchange.state);
});

describe("a document", () => {
  it("is read in each format", () => {
    forAll(runs(30), [anySettlement, histories(50)], (config, moves) => {
      const exchange = openWith(config);
      play(exchange, moves);
      const text = textOf(exchange.state);
      for (const [name, print] of PRINTERS)
        requireEqual(readDocument(JSON.parse(print(text))).state, exchange.state, name);
    });
  });

  it("with special characters in its texts is read in each format", () => {
    const exchange = openWith(arenaWith("manual", "optimistic"));
    const title = 'a "quoted", \\ [torn] {text}: \n \u{1f40e} \ud800 \u2028 \\"';
    const event = { ...eventCommand("other"), title, tags: ['"', "\\", "]", ""] };
    exchange.submit(event as CommandOf<"createEvent">);
    for (const [name, print] of PRINTERS) {
      const { state } = readDocument(JSON.parse(print(textOf(exchange.state))));
      expect(state.events.get(2), name).toEqual(exchange.state.events.get(2));
      expect(contentHash(state), name).toBe(contentHash(exchange.state));
    }
  });

  it("begins with the lines that the content hash covers", () => {
    const state = usedState();
    const lines = [...documentLines(state)];
    const end = lines.findIndex((line) => line.startsWith('"unfinished"'));
    const canonical = lines.slice(0, end);
    canonical[end - 1] = (canonical[end - 1] as string).slice(0, -1);
    expect(sha256Hex(["{", ...canonical, "}", ""].join("\n"))).toBe(contentHash(state));
  });

  it("has one line per record", () => {
    const state = usedState();
    const lines = [...documentLines(state)];
    const records = Object.values(parsedOf(textOf(state)) as object).flatMap((part) =>
      Array.isArray(part) ? part : [],
    );
    const own = new Set(lines.map((line) => line.replace(/,$/, "")));
    for (const record of records) expect(own).toContain(JSON.stringify(record));
  });

  it("does not contain settlements that are simply mined", () => {
    const document = parsedOf(textOf(usedState())) as Record<string, Json[]>;
    const kinds = document.transactions?.map((each) => (each as { content: { kind: string } }).content.kind);
    expect(new Set(kinds)).toEqual(new Set(["deposit", "prepare"]));
    expect(document.blocks?.map((block) => (block as { mined: Json }).mined)).toEqual([[], [[1, 12]], []]);
  });

  it("is read without JSON.parse for orders, trades and blocks", () => {
    const decoded: string[] = [];
    parseDocument([Buffer.from(textOf(usedState()))], (bytes) => {
      decoded.push(Buffer.from(bytes).toString());
      return decoded.at(-1) as string;
    });
    for (const record of [/^\{"number":1,"account":/, /^\{"number":1,"taker":/, /^\{"serial":/])
      expect(decoded.filter((line) => record.test(line))).toEqual([]);
    expect(decoded).toContain('"orders":[');
  });
});

it("additional fields of a document are returned, at any position", () => {
  const text = textOf(usedState());
  const wrapped = text
    .replace('"units":', '"format":"some/1",\n"list":[],\n"numbers":[1,[2],{"a":"]"}],\n"units":')
    .replace(/\n}\n$/, ',\n"sequence":7\n}');
  const { state, others } = parsed(wrapped);
  const numbers = [1, [2], { a: "]" }];
  expect(Object.fromEntries(others)).toEqual({ format: "some/1", list: [], numbers, sequence: 7 });
  expect(textOf(state)).toBe(text);
});
