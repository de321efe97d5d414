import { Buffer } from "node:buffer";
import { crc32 as crc32OfBytes } from "../engine/hashes.ts";

/** Replaces `crc32` of node:zlib in browsers. */
export function crc32(text: string): number {
  const { buffer, byteOffset, length } = Buffer.from(text, "utf8");
  return crc32OfBytes(new DataView(buffer, byteOffset, length), 0, length);
}
