import { deepStrictEqual } from "node:assert/strict";
import { Buffer } from "node:buffer";
import { crc32 as crcOfZlib } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Command } from "../../src/core/commands.ts";
import type { DomainEvent } from "../../src/core/events.ts";
import { hex8 } from "../../src/core/hash.ts";
import { createState } from "../../src/core/state.ts";
import { MAX_MILLIS, MAX_SIZE, type Millis, millis, price, size } from "../../src/core/units.ts";
import { crc32 } from "../../src/engine/hashes.ts";
import { LineWriter, parseLine } from "../../src/engine/journal-codec.ts";
import { commandOf, type Line } from "../../src/engine/journal-line.ts";
import { ARENA } from "../core/properties/moves.ts";
import { addressOf, orderCommand } from "../support/commands.ts";
import { TestExchange } from "../support/exchange.ts";
import { forAll, ofKind, type ValueOf } from "../support/runs.ts";

/** Texts, also unusual ones. */
const text = fc.oneof(
  fc.constantFrom("", "0x00", '"', "\\", "\n", "\u2028", "\ud800", "é", "😀", '","c":"', '{"n":'),
  fc.string({ unit: "grapheme", maxLength: 60 }),
  fc.uuid(),
);
const address = fc.stringMatching(/^0x[0-9a-f]{40}$/);
const moment = fc.integer({ min: 0, max: MAX_MILLIS }).map(millis);

const terms = {
  side: fc.constantFrom("BUY" as const, "SELL" as const),
  orderType: fc.constantFrom("GTC" as const, "GTD" as const, "FOK" as const, "FAK" as const),
};
/** Removes the expiration of an order that cannot have one. */
const timed = <Order extends { readonly orderType: string; readonly expiration: number }>(order: Order) => ({
  ...order,
  expiration: order.orderType === "GTD" ? order.expiration : null,
});
const order = ofKind(1, "placeOrder", {
  ...{ address, tokenId: text, ...terms, expiration: moment },
  price: fc.integer({ min: 1, max: 9_999 }).map(price),
  size: fc.integer({ min: 1, max: MAX_SIZE }).map(size),
}).arbitrary.map(timed);

const written = fc.record({
  command: fc.oneof(
    order,
    ofKind(1, "cancelOrder", { address, orderId: text }),
    ofKind(1, "deriveCredentials", { address }),
  ),
  at: moment,
  synced: fc.nat(),
  caused: fc.integer({ min: 0, max: 0xffff_ffff }),
});

/** Without accounts and markets, which lines in full do not need. */
const STATE = createState(ARENA, millis(0));

const bits32 = fc.integer({ min: 0, max: 0xffff_ffff });
/** Integers with a uniform number of bits. */
const integer = fc
  .tuple(fc.integer({ min: 0, max: 52 }), fc.maxSafeNat())
  .map(([bits, value]) => value % (2 * 2 ** bits))
  .filter(Number.isSafeInteger);

/** The fields of a placed order that a line has. */
const placed = ofKind(1, "orderPlaced", {
  ...{ account: integer, token: integer, ...terms, price: integer, size: integer, expiration: integer },
}).arbitrary.map((fields) => timed(fields) as unknown as DomainEvent<"orderPlaced">);

/** Returns a line as written by JSON.stringify, and its check. */
function lineOf(
  number: number,
  before: string,
  { command, at, synced, caused }: ValueOf<typeof written>,
): [string, string] {
  const { kind, ...data } = command;
  return textOf({ n: number, p: before, s: synced, t: at, k: kind, d: data, r: hex8(caused) });
}

function textOf(fields: object): [string, string] {
  const start = `${JSON.stringify(fields).slice(0, -1)},"c":"`;
  const check = hex8(crcOfZlib(Buffer.from(start, "utf8")));
  return [`${start}${check}"}`, check];
}

/** Parses the line of an order or a cancel; null if a text is none. */
function lineIn(text: string): Line | null {
  if (!text.startsWith("{") || !/","c":"[0-9a-f]{8}"}$/.test(text)) return null;
  try {
    const { p, r, n, s, t, k, d } = JSON.parse(text);
    const isLine = [p, r].every((digits) => /^[0-9a-f]{8}$/.test(digits)) && isIn(n, 2) && isIn(s, 0);
    return isLine && isIn(t, 0, MAX_MILLIS) && isValidData(k, d) ? parsed(text) : null;
  } catch {
    return null;
  }
}

const isIn = (value: unknown, low: number, high: number = Number.MAX_SAFE_INTEGER): boolean =>
  Number.isInteger(value) && Number(value) >= low && Number(value) <= high;

/** Whether the data of an order or a cancel has exactly the right fields. */
function isValidData(kind: unknown, data: Record<string, unknown>): boolean {
  const { account, token, side, price, size, orderType, expiration, order, ...others } = data;
  if (Object.keys(others).length > 0) return false;
  if (kind === "cancel") return Object.keys(data).length === 1 && isIn(order, 1);
  const isWhole = [account, token, price, size].every((value, index) => isIn(value, index === 1 ? 2 : 1));
  const isInRange = isIn(price, 1, 9_999) && isIn(size, 1, MAX_SIZE) && order === undefined;
  const isTimed =
    orderType === "GTD"
      ? isIn(expiration, 0, MAX_MILLIS)
      : ["GTC", "FOK", "FAK"].includes(String(orderType)) && !("expiration" in data);
  return kind === "order" && isWhole && isInRange && isTimed && (side === "BUY" || side === "SELL");
}

function dataOf(event: DomainEvent<"orderPlaced">): object {
  const { account, token, side, price, size, orderType, expiration } = event;
  const data = { account, token, side, price, size, orderType };
  return expiration === null ? data : { ...data, expiration };
}

/** Parses a line with JSON.parse. */
function parsed(text: string): Line {
  const { p, r, c, ...line } = JSON.parse(text);
  const [before, caused, check] = [p, r, c].map((digits) => Number.parseInt(digits, 16));
  return { ...line, p: before, r: caused, c: check };
}

describe("a line of the journal", () => {
  it("has the bytes of JSON.stringify, is chained to the line before, and is parsed back unchanged", () => {
    forAll({ seed: 42, numRuns: 400 }, [fc.array(written, { maxLength: 12 })], (all) => {
      const writer = new LineWriter(1);
      let before = "00000000";
      for (const [index, each] of all.entries()) {
        const start = writer.buffer.length;
        writer.command(each.command, each.at, each.synced, each.caused);
        const bytes = Buffer.from(writer.buffer.bytes.subarray(start));
        const [line, check] = lineOf(index + 2, before, each);
        deepStrictEqual(bytes, Buffer.from(`${line}\n`));
        const read = parseLine(bytes.subarray(0, -1));
        if (read === null) throw new Error(`cannot be read: ${bytes}`);
        deepStrictEqual(read, parsed(bytes.toString("utf8")));
        deepStrictEqual(commandOf(read, STATE), JSON.parse(JSON.stringify(each.command)));
        deepStrictEqual([read.p, read.c, writer.check].map(hex8), [before, check, check]);
        before = check;
      }
    });
  });

  it("has the bytes of JSON.stringify if an order is written by numbers, with any numbers", () => {
    const cases = fc.array(fc.tuple(fc.oneof(placed, integer), integer, integer, bits32), { maxLength: 12 });
    forAll({ seed: 43, numRuns: 1_000 }, [cases], (all) => {
      const writer = new LineWriter(1);
      const expected: string[] = [];
      let before = "00000000";
      for (const [index, [subject, at, synced, caused]] of all.entries()) {
        const isOrder = typeof subject === "object";
        if (isOrder) writer.order(subject, at as Millis, synced, caused);
        else writer.cancel(subject, at as Millis, synced, caused);
        const common = { n: index + 2, p: before, s: synced, t: at };
        const [line, check] = textOf({
          ...common,
          k: isOrder ? "order" : "cancel",
          d: isOrder ? dataOf(subject) : { order: subject },
          r: hex8(caused),
        });
        expected.push(line);
        before = check;
      }
      const text = Buffer.from(writer.buffer.bytes).toString("utf8");
      deepStrictEqual(text, expected.map((line) => `${line}\n`).join(""));
      expect(expected.map((line) => parseLine(Buffer.from(line)))).toEqual(expected.map(lineIn));
    });
  });

  it("has an order and its cancel by numbers, from which the state before it gives the command", () => {
    const submitted: Command[] = [];
    const writer = new LineWriter(1);
    const testExchange = new TestExchange();
    const { exchange } = testExchange;
    testExchange.market();
    for (const name of ["alice", "bob"]) testExchange.fund(name, { usdc: 1_000, everyMarket: 1_000 });
    exchange.watch((_sequence, at, events) => {
      for (const event of events) {
        if (event.kind === "orderPlaced") writer.order(event, at, 3, 7);
        if (event.kind === "orderCanceled") writer.cancel(event.order, at, 3, 7);
      }
    });
    const submit = (command: Command): void => {
      submitted.push(command);
      testExchange.mustSubmit(command);
    };
    for (const sentence of ["alice BUY 10 YES @ 0.4", "bob SELL 5 NO @ 0.7", "alice BUY 2 NO @ 0.2 GTD 60s"])
      submit(testExchange.command(sentence));
    submit({ kind: "cancelOrder", address: addressOf("bob"), orderId: testExchange.orderId(2) });
    const lines = Buffer.from(writer.buffer.bytes).toString("utf8").trimEnd().split("\n");
    const read = lines.map((line) => parseLine(Buffer.from(line)));
    expect(read).toEqual(lines.map(parsed));
    expect(read.map((line) => line && commandOf(line, exchange.state))).toEqual(submitted);
  });

  it("with a correct check is parsed as by JSON.parse, or is invalid", () => {
    const [subject, r] = [{ n: 9, p: "0123abcd", s: 8, t: 7 }, "00fedcba"];
    const order = { account: 12, token: 3, side: "SELL", price: 40, size: 5, orderType: "GTD" };
    const data = { ...order, expiration: 60 };
    const lines = [
      textOf({ ...subject, k: "order", d: data, r }),
      textOf({ ...subject, k: "cancel", d: { order: 120 }, r }),
    ];
    for (const [line] of lines) {
      const body = line.slice(0, line.lastIndexOf(',"c":"') + 6);
      for (let at = 0; at < body.length; at += 1) {
        for (const other of ['"', "\\", "0", "1", "9", "a", "A", "B", "-", ".", " ", ",", "{", "}"]) {
          for (const beyond of [0, 1]) {
            const changed = body.slice(0, at) + other + body.slice(at + beyond);
            const text = `${changed}${hex8(crcOfZlib(Buffer.from(changed)))}"}`;
            deepStrictEqual(parseLine(Buffer.from(text)), lineIn(text), text);
          }
        }
      }
    }
  });

  it("is invalid if one of its bytes is changed", () => {
    const writer = new LineWriter(1);
    const command = orderCommand("ann BUY 5 YES @ 0.01 GTD 1s", millis(0), () => "1");
    writer.command(command, millis(1_767_225_600_000), 0, 7);
    const line = Buffer.from(writer.buffer.bytes.subarray(0, -1));
    expect(parseLine(line)).not.toBe(null);
    const accepted: unknown[] = [];
    for (let index = 0; index < line.length; index += 1) {
      for (let value = 1; value < 256; value += 1) {
        line[index] = (line[index] as number) ^ value;
        if (parseLine(line) !== null) accepted.push([index, value]);
        line[index] = (line[index] as number) ^ value;
      }
      if (parseLine(line.subarray(0, index)) !== null) accepted.push(index);
    }
    expect(accepted).toEqual([]);
  });
});

it("the CRC-32 of a byte range is that of zlib, at any offset and length", () => {
  const bytes = fc.uint8Array({ maxLength: 100 });
  forAll({ seed: 44, numRuns: 2_000 }, [bytes, bytes, bytes], (before, these, behind) => {
    const all = Buffer.concat([before, these, behind]);
    const view = new DataView(all.buffer, all.byteOffset, all.byteLength);
    deepStrictEqual(crc32(view, before.length, before.length + these.length), crcOfZlib(these));
  });
});
