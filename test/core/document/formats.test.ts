import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CommandOf } from "../../../src/core/commands.ts";
import { sha256Hex } from "../../../src/core/hash.ts";
import { parseDocument, readDocument } from "../../../src/core/rebuild-state.ts";
import type { State } from "../../../src/core/state.ts";
import { documentLines } from "../../../src/core/state-document.ts";
import { Exchange } from "../../../src/engine/exchange.ts";
import { contentHash } from "../../../src/engine/state-hash.ts";
import { generateWorld } from "../../../src/simulation/generate-world.ts";
import { openWorld } from "../../../src/simulation/opening.ts";
import { eventCommand } from "../../support/commands.ts";
import { openFloor, START } from "../../support/exchange.ts";
import { runs } from "../../support/runs.ts";
import { anySettlement, arenaWith, histories, openWith, play } from "../chain/chain-moves.ts";
import { ARENA } from "../properties/moves.ts";
import { type Json, parsedOf, textOf } from "./damages.ts";
import { outlookOf, parsed, readBack } from "./told.ts";

/** Two orders and a trade, settled. */
function livelyState(): State {
  const floor = openFloor({ feeRateBps: 100 });
  floor.send("alice BUY 10 YES @ 0.5 GTD 1h", "bob SELL 3 YES @ 0.5", "bob BUY 4 NO @ 0.5");
  floor.exchange.submit({ kind: "mineBlocks", count: 2 });
  return floor.state;
}

/** The same values, the names of all objects in alphabetical order. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, part]) => [name, sorted(part)]));
}

/** A text of JSON with a line feed and a blank around each sign outside of texts. */
const torn = (text: string): string =>
  text.replace(/"(?:[^"\\]|\\.)*"|[{}[\]:,]/g, (part) => (part.startsWith('"') ? part : `\n${part} `));

/** Forms of a document that are not read line by line, but when somebody has parsed them. */
const PRINTERS: readonly [name: string, print: (text: string) => string][] = [
  ["as it is written", (text) => text],
  ["with carriage returns", (text) => text.replaceAll("\n", "\r\n")],
  ["on one line", (text) => JSON.stringify(parsedOf(text))],
  ["indented by two", (text) => JSON.stringify(parsedOf(text), null, 2)],
  ["indented by tabs", (text) => JSON.stringify(parsedOf(text), null, "\t")],
  ["with all names sorted", (text) => JSON.stringify(sorted(parsedOf(text)), null, 1)],
  ["with a line for each sign", torn],
];

describe("the exchange that everybody starts with", () => {
  it.each(["instant", "auto"] as const)(
    "is read, its world opened with settlement %s",
    async (settlement) => {
      const exchange = new Exchange({ ...ARENA, settlement }, START);
      openWorld(exchange, await generateWorld({ seed: "1" }), START);
      const state = readBack(exchange.state);
      expect(contentHash(state)).toBe(contentHash(exchange.state));
      expect(outlookOf(state)).toEqual(outlookOf(exchange.state));
    },
  );
});

describe("a document", () => {
  it.each(PRINTERS)("is read %s", (_name, print) => {
    fc.assert(
      fc.property(anySettlement, histories(50), (config, moves) => {
        const exchange = openWith(config);
        play(exchange, moves);
        const { state } = readDocument(JSON.parse(print(textOf(exchange.state))));
        expect(contentHash(state)).toBe(contentHash(exchange.state));
        expect(outlookOf(state)).toEqual(outlookOf(exchange.state));
      }),
      runs(60),
    );
  });

  it.each(PRINTERS)("with any signs in its texts is read %s", (_name, print) => {
    const exchange = openWith(arenaWith("manual", "optimistic"));
    const title = 'a "quoted", \\ [torn] {text}: \n \u{1f40e} \ud800 \u2028 \\"';
    exchange.submit({
      ...eventCommand("other"),
      title,
      tags: ['"', "\\", "]", ""],
    } as CommandOf<"createEvent">);
    const { state } = readDocument(JSON.parse(print(textOf(exchange.state))));
    expect(state.events.get(2)).toEqual(exchange.state.events.get(2));
    expect(contentHash(state)).toBe(contentHash(exchange.state));
  });

  it("is read line by line, with braces around it and without", () => {
    const text = textOf(livelyState());
    for (const each of [text, text.slice(2, -3)]) expect(textOf(parsed(each).state)).toBe(text);
  });

  it("is read when somebody else has parsed it", () => {
    const state = livelyState();
    expect(contentHash(readDocument(sorted(parsedOf(textOf(state)))).state)).toBe(contentHash(state));
  });

  it("begins with the lines that the state's hash is of", () => {
    const state = livelyState();
    const lines = [...documentLines(state)];
    const end = lines.findIndex((line) => line.startsWith('"unfinished"'));
    const canonical = lines.slice(0, end);
    canonical[end - 1] = (canonical[end - 1] as string).slice(0, -1);
    expect(sha256Hex(["{", ...canonical, "}", ""].join("\n"))).toBe(contentHash(state));
  });

  it("has a line for each record", () => {
    const state = livelyState();
    const lines = [...documentLines(state)];
    const records = Object.values(parsedOf(textOf(state)) as object).flatMap((part) =>
      Array.isArray(part) ? part : [],
    );
    const own = new Set(lines.map((line) => line.replace(/,$/, "")));
    for (const record of records) expect(own).toContain(JSON.stringify(record));
  });

  it("says nothing twice of a settlement that went well", () => {
    const document = parsedOf(textOf(livelyState())) as Record<string, Json[]>;
    const kinds = document.transactions?.map((each) => (each as { content: { kind: string } }).content.kind);
    expect(new Set(kinds)).toEqual(new Set(["deposit", "prepare"]));
    expect(document.blocks?.map((block) => (block as { mined: Json }).mined)).toEqual([[], [[1, 12]], []]);
  });

  it("has orders, trades and blocks that are read without JSON.parse", () => {
    const decoded: string[] = [];
    parseDocument([Buffer.from(textOf(livelyState()))], (bytes) => {
      decoded.push(Buffer.from(bytes).toString());
      return decoded.at(-1) as string;
    });
    for (const record of [/^\{"number":1,"account":/, /^\{"number":1,"taker":/, /^\{"serial":/])
      expect(decoded.filter((line) => record.test(line))).toEqual([]);
    expect(decoded).toContain('"orders":[');
  });
});

describe("what a document is wrapped with", () => {
  it("is handed back, whatever it is and wherever it stands", () => {
    const text = textOf(livelyState());
    const wrapped = text
      .replace('"units":', '"format":"some/1",\n"list":[],\n"numbers":[1,[2],{"a":"]"}],\n"units":')
      .replace(/\n}\n$/, ',\n"sequence":7\n}');
    const { state, others } = parsed(wrapped);
    expect(Object.fromEntries(others)).toEqual({
      format: "some/1",
      list: [],
      numbers: [1, [2], { a: "]" }],
      sequence: 7,
    });
    expect(textOf(state)).toBe(text);
  });
});
