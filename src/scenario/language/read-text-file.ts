import { isUtf8 } from "node:buffer";
import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { MOST_BYTES } from "./text-limits.ts";

/** A file's text; or why it has none, with as much of the text as stands before the fault. */
export type FileText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly message: string; readonly before: string };

/** Reads a file of at most `MOST_BYTES` bytes of UTF-8, whatever else the path may lead to. */
export function readTextFile(path: string): FileText {
  let bytes: Buffer;
  try {
    // A pipe would be waited for when it is opened.
    if (!statSync(path).isFile()) return fault("expected a file, found something else");
    bytes = bytesOf(path);
  } catch (error) {
    return fault(reasonOf(error));
  }
  if (bytes.length > MOST_BYTES) return fault(`expected at most ${MOST_BYTES} bytes, found more`);
  if (isUtf8(bytes)) return { ok: true, text: bytes.toString("utf8") };
  return fault("expected UTF-8 text, found a byte that is none", textBeforeFault(bytes));
}

/** The sentence for what the system says of a file that it does not give. */
export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ENOENT" || code === "ENOTDIR") return "there is no such file";
  if (code === "EACCES" || code === "EPERM") return "the file may not be read";
  return `the file cannot be read: ${code ?? message}`;
}

const fault = (message: string, before = ""): FileText => ({ ok: false, message, before });

/** The bytes of a file, of one that is too large at most one byte too many. */
function bytesOf(path: string): Buffer {
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(Math.min(fstatSync(file).size, MOST_BYTES) + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read) {
      read = readSync(file, bytes, length, bytes.length - length, null);
    }
    return bytes.subarray(0, length);
  } finally {
    closeSync(file);
  }
}

/** The longest beginning that is UTF-8, found by halving. */
function textBeforeFault(bytes: Buffer): string {
  let low = 0;
  let high = bytes.length;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (decoded(bytes.subarray(0, middle)) === null) high = middle;
    else low = middle;
  }
  return decoded(bytes.subarray(0, low)) ?? "";
}

/** The text of whole characters at the start; null where a byte is none of UTF-8. */
function decoded(bytes: Buffer): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
  } catch {
    return null;
  }
}
