import { Buffer } from "node:buffer";
import { hmac } from "@noble/hashes/hmac";
import { sha256 } from "@noble/hashes/sha2";
import { crc32 as crc32OfBytes } from "../engine/hashes.ts";

// Functions of node:crypto and node:zlib that the engine uses, for browsers.

type Data = string | Uint8Array;
type Encoding = "hex" | "base64" | "base64url";

type Hasher = ReturnType<typeof sha256.create> | ReturnType<typeof hmac.create>;

class Digest {
  readonly #hasher: Hasher;

  constructor(name: string, hasher: () => Hasher) {
    if (name !== "sha256") throw new Error(`no hash ${name} in a browser`);
    this.#hasher = hasher();
  }

  update(data: Data): this {
    this.#hasher.update(typeof data === "string" ? Buffer.from(data, "utf8") : data);
    return this;
  }

  digest(encoding?: Encoding): string | Buffer {
    const bytes = Buffer.from(this.#hasher.digest());
    return encoding === undefined ? bytes : bytes.toString(encoding);
  }
}

export const createHash = (name: string): Digest => new Digest(name, () => sha256.create());

export const createHmac = (name: string, key: Data): Digest =>
  new Digest(name, () => hmac.create(sha256, typeof key === "string" ? Buffer.from(key, "utf8") : key));

/** Hashes data in one call. */
export const hash = (name: string, data: Data, encoding: Encoding = "hex"): string | Buffer =>
  createHash(name).update(data).digest(encoding);

export const randomUUID = (): string => crypto.randomUUID();

/** Not available; the page signs nothing with a wallet. */
export const createECDH = (): never => {
  throw new Error("no elliptic curves in a browser");
};

export function crc32(text: string): number {
  const { buffer, byteOffset, length } = Buffer.from(text, "utf8");
  return crc32OfBytes(new DataView(buffer, byteOffset, length), 0, length);
}
