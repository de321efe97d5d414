import fc from "fast-check";
import { expect, it } from "vitest";
import { OrderRefs } from "../../src/scenario/venue/play-flow.ts";
import { forAll } from "../support/runs.ts";

/** Similar names: numbered, padded, with large numbers, with another prefix, or not numbered. */
const REF = fc.oneof(
  fc.nat(40).map((count) => `o${count}`),
  fc.nat(40).map((count) => `o0${count}`),
  fc.integer({ min: 4_000, max: 9_000 }).map((count) => `o${count}`),
  fc.nat(40).map((count) => `p${count}`),
  fc.constantFrom("o", "12", "012", "o1x", "o0", "o00", "999999999999", "o999999999", "o1000000000"),
);

it("the names of a flow's orders refer to the latest order with that name; others are unknown", () => {
  const anyOrder = fc.tuple(REF, fc.integer({ min: 1, max: 1_000_000 }));
  forAll({}, [fc.array(anyOrder, { maxLength: 60 }), fc.array(REF)], (given, asked) => {
    const refs = new OrderRefs();
    for (const [ref, order] of given) refs.set(ref, order);
    const latest = new Map(given);
    for (const ref of [...latest.keys(), ...asked, ""]) expect(refs.get(ref)).toBe(latest.get(ref));
  });
});
