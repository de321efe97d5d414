import { isUtf8 } from "node:buffer";
import { readRegular, whyUnread } from "../../regular-file.ts";
import { MOST_BYTES } from "./text-limits.ts";

/** A file's text; or why it has none, with as much of the text as stands before the fault. */
export type FileText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly message: string; readonly before: string };

/** Reads a file of at most `MOST_BYTES` bytes of UTF-8, whatever else the path may lead to. */
export function readTextFile(path: string): FileText {
  let bytes: Buffer;
  try {
    bytes = readRegular(path, MOST_BYTES);
  } catch (error) {
    return fault(whyUnread(error));
  }
  if (isUtf8(bytes)) return { ok: true, text: bytes.toString("utf8") };
  return fault("expected UTF-8 text, found a byte that is none", textBeforeFault(bytes));
}

const fault = (message: string, before = ""): FileText => ({ ok: false, message, before });

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
