import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OrderRefs } from "../../src/scenario/venue/play-flow.ts";

/** Similar names: numbered, padded, with large numbers, with another prefix, or not numbered. */
const REF = fc.oneof(
  fc.nat(40).map((count) => `o${count}`),
  fc.nat(40).map((count) => `o0${count}`),
  fc.integer({ min: 4_000, max: 9_000 }).map((count) => `o${count}`),
  fc.nat(40).map((count) => `p${count}`),
  fc.constantFrom("o", "12", "012", "o1x", "o0", "o00", "999999999999", "o999999999", "o1000000000"),
);

describe("names of a flow's orders", () => {
  it("refer to the latest order with that name", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(REF, fc.integer({ min: 1, max: 1_000_000 })), { maxLength: 60 }),
        (given) => {
          const refs = new OrderRefs();
          const map = new Map<string, number>();
          for (const [ref, order] of given) {
            refs.set(ref, order);
            map.set(ref, order);
          }
          for (const [ref] of given) expect(refs.get(ref)).toBe(map.get(ref));
        },
      ),
    );
  });

  it("that were never used are unknown", () => {
    const refs = new OrderRefs();
    refs.set("o5", 1);
    for (const ref of ["o4", "o05", "o6", "5", "p5", "o", ""]) expect(refs.get(ref)).toBeUndefined();
  });
});
