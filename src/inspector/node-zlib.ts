import { Buffer } from "node:buffer";
import { crc32 as crc32OfBytes } from "../engine/checksum.ts";

/** What the engine uses of node:zlib, for browsers: the CRC-32 of a text. */
export function crc32(text: string): number {
  const { buffer, byteOffset, length } = Buffer.from(text, "utf8");
  return crc32OfBytes(new DataView(buffer, byteOffset, length), 0, length);
}
