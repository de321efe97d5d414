import * as node from "node:crypto";
import { crc32 } from "node:zlib";
import fc from "fast-check";
import { expect, it } from "vitest";
import * as standIn from "../../src/inspector/node-stand-ins.ts";
import { forAll } from "../support/runs.ts";

const bytes = fc.uint8Array({ maxLength: 200 });
const texts = fc.string({ unit: "binary", maxLength: 80 });

it("hashes of the browser equal those of Node", () => {
  forAll({}, [fc.oneof(bytes, texts), fc.oneof(bytes, texts)], (data, key) => {
    for (const encoding of ["hex", "base64", "base64url"] as const) {
      const [own, theirs] = [standIn, node].map(({ createHash, createHmac }) => [
        createHash("sha256").update(data).update(key).digest(encoding),
        createHmac("sha256", key).update(data).digest(encoding),
      ]);
      expect(own).toEqual(theirs);
    }
    expect(standIn.hash("sha256", data)).toBe(node.hash("sha256", data));
    expect(standIn.createHash("sha256").update(data).digest()).toEqual(
      node.createHash("sha256").update(data).digest(),
    );
  });
});

it("the CRC-32 of the browser equals that of Node", () => {
  forAll({}, [texts], (text) => {
    expect(standIn.crc32(text)).toBe(crc32(text));
  });
});
