import { canonicalMessage, sign } from "../api/signing.ts";
import type { Header } from "./headers.ts";
import type { SigningCredentials } from "./replies.ts";

/** A request as far as it is signed. */
export interface Signable {
  readonly method: string;
  /** Path and query, from the origin on. */
  readonly target: string;
  /** Is signed instead of what the target comes to. */
  readonly signedPath?: string;
  /** Empty when there is none. */
  readonly body: string;
}

/** The five headers of a signed request (specification, "Authentication"); `unixTime` is in seconds. */
export function authHeaders(
  { address, apiKey, secret, passphrase }: SigningCredentials,
  { method, target, signedPath = signedPathOf(target), body }: Signable,
  unixTime: number,
): Header[] {
  const timestamp = String(unixTime);
  const message = canonicalMessage({ timestamp, method, path: signedPath, body });
  return [
    ["poly_address", address],
    ["poly_api_key", apiKey],
    ["poly_passphrase", passphrase],
    ["poly_timestamp", timestamp],
    ["poly_signature", sign(secret, message)],
  ];
}

/** The path that is signed: relative to `/clob`, without the query. */
function signedPathOf(target: string): string {
  const [path = ""] = target.split("?", 1);
  return path.startsWith("/clob/") ? path.slice("/clob".length) : path;
}
