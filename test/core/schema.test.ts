import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { ByteCursor } from "../../src/core/byte-cursor.ts";
import { Order } from "../../src/core/order.ts";
import type { Infer, RecordType } from "../../src/core/schema.ts";
import * as schema from "../../src/core/schema.ts";
import { MAX_MILLIS, MAX_SIZE, millis } from "../../src/core/units.ts";
import { withoutCompiler } from "../support/no-compiler.ts";
import { forAll } from "../support/runs.ts";

const declare = (of: typeof schema) =>
  of.record(
    {
      number: of.id(),
      side: of.oneOf("BUY", "SELL"),
      price: of.orNull(of.price()),
      runs: of.list(of.tuple<[number, number]>("a run", of.integer(), of.integer(-5, 5))),
    },
    { changing: { isOpen: of.boolean(), note: of.optional(of.id()) }, derived: { slots: () => [0] } },
  );
const Sample = declare(schema);
type Sample = Infer<typeof Sample>;

/** Returns the same declaration, made where code cannot be compiled. */
const interpreted = <Type extends Pick<RecordType<unknown>, "parse">>(
  declared: (of: typeof schema) => Type,
) =>
  withoutCompiler(async () => {
    vi.resetModules();
    const type = declared(await import("../../src/core/schema.ts"));
    // The first call makes the methods.
    expect(() => type.parse(null)).toThrow("expected an object, found null");
    return type;
  });

const small = fc.integer({ min: -5, max: 5 }).map((value) => value || 0);
const samples: fc.Arbitrary<Sample> = fc.record({
  number: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  side: fc.constantFrom("BUY", "SELL"),
  price: fc.option(fc.integer({ min: 1, max: 9_999 })),
  runs: fc.array(fc.tuple(fc.maxSafeNat(), small)),
  isOpen: fc.boolean(),
  note: fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }),
  slots: fc.constant([0]),
}) as never;

function read<Value>(type: RecordType<Value>, text: string): Value | null {
  const bytes = Buffer.from(text);
  const cursor = new ByteCursor(bytes);
  cursor.begin(0, bytes.length);
  const value = type.read(cursor);
  return cursor.hasFailed || !cursor.isAtEnd ? null : value;
}

const errorOf = (type: RecordType<unknown>, value: unknown): string => {
  try {
    type.parse(value);
    return "";
  } catch (error) {
    expect(error).toHaveProperty("name", "DocumentError");
    return (error as Error).message;
  }
};

const BOUGHT = { number: 1, side: "BUY", price: 1 };

describe.each([
  ["compiled", Sample],
  ["interpreted", await interpreted(declare)],
])("a record, %s", (_how, type) => {
  it("is written as JSON in field order, and read back equal from bytes and from JSON", () => {
    forAll({ seed: 42, numRuns: 300 }, [samples], (sample) => {
      const { slots, note, ...fields } = sample;
      const text = JSON.stringify(note === undefined ? fields : { ...fields, note });
      expect(type.write(sample)).toBe(text);
      expect(read(type, text)).toEqual(sample);
      expect(type.parse(JSON.parse(text))).toEqual(sample);
      expect(Object.keys(type.parse(JSON.parse(text)))).toEqual(Object.keys(sample));
    });
  });

  it.each([
    [{}, "number: expected an integer from 1, found nothing"],
    [[], "expected an object, found []"],
    [{ number: 0 }, "number: expected an integer from 1, found 0"],
    [{ number: 1, side: "buy" }, 'side: expected one of BUY, SELL, found "buy"'],
    [{ number: 1, side: "BUY", price: 0 }, "price: expected null or an integer from 1 to 9999, found 0"],
    [{ ...BOUGHT, runs: {} }, "runs: expected a list, found {}"],
    [{ ...BOUGHT, runs: [[1, 2, 3]] }, "runs[0]: expected a run, found [1,2,3]"],
    [
      { ...BOUGHT, runs: JSON.parse("[[1,2],[0,9]]") },
      "runs[1][1]: expected an integer from -5 to 5, found 9",
    ],
    [
      { ...BOUGHT, runs: [], isOpen: true, slots: [] },
      'expected only the fields number, side, price, runs, isOpen, note, found "slots"',
    ],
  ])("%j is rejected with its path: %s", (value, message) => {
    expect(errorOf(type, value)).toBe(message);
  });

  it("is not read from bytes that are not canonical or contain an invalid value", () => {
    const text = '{"number":1,"side":"BUY","price":null,"runs":[],"isOpen":true,"note":2}';
    expect(read(type, text)).not.toBe(null);
    for (const [from, to] of [
      ['"number":1', '"number":0'],
      ['"number":1', '"number": 1'],
      ['"BUY"', '"BUYS"'],
      ["null", "10000"],
      ["[]", "[[1,-0]]"],
      ["true", "tru"],
      ["}", ',"other":1}'],
    ] as const)
      expect(read(type, text.replace(from, to)), to).toBe(null);
  });
});

it.each([["compiled"], ["interpreted"]])(
  "a new record has the initial values of what it is not given, and needs what has none, %s",
  async (how) => {
    const declared = ({ record, id, orNull, boolean, optional, moment }: typeof schema) =>
      record(
        { number: id() },
        { changing: { price: orNull(id()), isOpen: boolean(), note: optional(id()), at: moment() } },
      );
    const type = how === "compiled" ? declared(schema) : await interpreted(declared);
    const made = { number: 1, price: null, isOpen: false, note: undefined, at: 2 };
    expect(type.make({ number: 1, at: millis(2) })).toStrictEqual(made);
    const open = type.make({ number: 1, isOpen: true, note: 3, at: millis(2) });
    expect(open).toStrictEqual({ ...made, isOpen: true, note: 3 });
    expect(() => type.make({ number: 1 })).toThrow("a new record needs at");
  },
);

it("an order is read from bytes exactly if its JSON is valid, with any integer in any field", () => {
  const integer = fc.oneof(
    fc.constantFrom(0, 1, 2, 9_999, 10_000, MAX_SIZE, MAX_SIZE + 1, MAX_MILLIS, MAX_MILLIS + 1),
    fc.maxSafeNat(),
  );
  const order = Order.parse({
    ...{ number: 1, account: 1, token: 2, side: "BUY", price: 1, size: 1, orderType: "GTC" },
    ...{ expiration: null, createdAt: 0, touch: null, crossable: 0, ownInWay: 0, rested: true },
    ...{ ordersAhead: 0, sizeAhead: 0, status: "LIVE", cancelReason: null, matched: 0, notional: 0 },
    ...{ fee: 0, updatedAt: 0 },
  });
  const fields = Object.keys(Order.fields).filter((name) => typeof order[name as never] === "number");
  forAll({ seed: 42, numRuns: 500 }, [fc.constantFrom(...fields), integer], (name, value) => {
    const text = Order.write({ ...order, [name]: value });
    const parsed = errorOf(Order, JSON.parse(text)) === "" ? Order.parse(JSON.parse(text)) : null;
    expect(read(Order, text)).toEqual(parsed);
  });
});

it("a field with another name on disk is read, written and named in errors by that name", () => {
  const type = schema.record({ id: schema.id(), left: schema.onDisk("lost", schema.id()) });
  expect(type.write({ id: 1, left: 2 })).toBe('{"id":1,"lost":2}');
  for (const found of [type.parse({ id: 1, lost: 2 }), read(type, '{"id":1,"lost":2}')])
    expect(found).toEqual({ id: 1, left: 2 });
  expect(() => type.parse({ id: 1, left: 2 })).toThrow("lost: expected an integer from 1, found nothing");
});

describe("a union", () => {
  const Call = schema.union({
    send: schema.record({ kind: schema.oneOf("send") }),
    pay: schema.record({ to: schema.text(), kind: schema.oneOf("pay") }),
  });

  it("is parsed and written as the record of its kind, wherever the field `kind` is", () => {
    expect(Call.parse({ kind: "pay", to: 'a "b"' })).toEqual({ to: 'a "b"', kind: "pay" });
    expect(Call.write({ to: 'a "b"', kind: "pay" })).toBe('{"to":"a \\"b\\"","kind":"pay"}');
    expect(() => Call.parse({ kind: "toString" })).toThrow(
      'kind: expected one of send, pay, found "toString"',
    );
  });
});
