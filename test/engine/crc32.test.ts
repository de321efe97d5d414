import { crc32 as crcOfZlib } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { crc32 } from "../../src/engine/hashes.ts";
import { forAll } from "../support/runs.ts";

describe("the CRC-32 of a byte range", () => {
  it("is that of zlib, at any offset and length", () => {
    const bytes = fc.uint8Array({ maxLength: 100 });
    forAll({ seed: 44, numRuns: 2_000 }, [bytes, bytes, bytes], (before, these, behind) => {
      const all = Buffer.concat([before, these, behind]);
      const view = new DataView(all.buffer, all.byteOffset, all.byteLength);
      expect(crc32(view, before.length, before.length + these.length)).toBe(crcOfZlib(these));
    });
  });

  it("has the standard check value for the digits from 1 to 9", () => {
    const digits = Buffer.from("123456789");
    expect(crc32(new DataView(digits.buffer, digits.byteOffset, 9), 0, 9)).toBe(0xcbf43926);
  });
});
