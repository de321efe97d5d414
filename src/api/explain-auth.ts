import { Buffer } from "node:buffer";
import {
  type AuthRefusal,
  type CredentialsLookup,
  canonicalMessage,
  isTimestamp,
  refuseAddress,
  refuseDuplicate,
  refuseMissing,
  refusePassphrase,
  refuseSignature,
  refuseSkew,
  refuseTimestamp,
  refuseUnknownKey,
  type SignedRequest,
  type SigningCode,
  type StoredCredentials,
  WINDOW_SECONDS,
} from "./signing.ts";

/** A signed request as a person pastes it in. */
export interface PastedRequest {
  readonly method: string;
  /** A full URL, or the path with or without `/clob`; `path` is another name for it. */
  readonly url?: string | undefined;
  readonly path?: string | undefined;
  /** Names in any letter case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Unix seconds at which to judge the timestamp; the server's own time if not given. */
  readonly serverTime?: number | undefined;
}

/** One check and its outcome; `ok` is null where an earlier failure left nothing to check. */
export interface ExplainedCheck {
  readonly check: string;
  /** The code of the refusal when the check fails. */
  readonly code: SigningCode;
  readonly ok: boolean | null;
  readonly message: string;
}

/** What became of a pasted request, ready for JSON: no secret, no passphrase, no digest. */
export interface AuthExplanation {
  /** `OK`, or the code the request is refused with. */
  readonly verdict: SigningCode | "OK";
  readonly hint: string | null;
  readonly checks: readonly ExplainedCheck[];
  /** What should have been signed; with the server's time when the request has no valid timestamp. */
  readonly canonicalMessage: string;
  /** Unix seconds. */
  readonly serverTime: number;
}

/** What each check asks, and what it says when it passes; in order of precedence. */
const CHECKS: readonly { readonly code: SigningCode; readonly check: string; readonly passed: string }[] = [
  {
    code: "MISSING_AUTH_HEADER",
    check: "all five headers are there",
    passed: "none of the five headers is missing",
  },
  {
    code: "DUPLICATE_AUTH_HEADER",
    check: "no header is repeated",
    passed: "none of the five headers was sent twice",
  },
  {
    code: "INVALID_TIMESTAMP",
    check: "the timestamp is in Unix seconds",
    passed: "poly_timestamp is a whole number of seconds",
  },
  {
    code: "TIMESTAMP_OUT_OF_WINDOW",
    check: `the timestamp is within ${WINDOW_SECONDS} s of the server's time`,
    passed: "poly_timestamp is near enough to the server's time",
  },
  {
    code: "UNKNOWN_API_KEY",
    check: "the API key is known",
    passed: "poly_api_key belongs to a wallet",
  },
  {
    code: "ADDRESS_MISMATCH",
    check: "the address is that of the key's wallet",
    passed: "poly_address is the wallet that poly_api_key was issued to",
  },
  {
    code: "INVALID_PASSPHRASE",
    check: "the passphrase is the key's",
    passed: "poly_passphrase was issued with poly_api_key",
  },
  {
    code: "INVALID_SIGNATURE",
    check: "the signature is that of this request",
    passed: "poly_signature is the HMAC-SHA256 of the canonical message",
  },
];

/** What a check found: a refusal, undefined when it passed, null when there was nothing to check. */
type Finding = AuthRefusal | undefined | null;

/** The server at which a request is explained. */
export interface ExplainingServer {
  /** In whole Unix seconds. */
  readonly time: number;
  /** Its name and port, as whoever asks knows it. */
  readonly host: string | undefined;
}

/** Makes every check of a signed request, those after the first failure too, and says what each found. */
export function explainAuth(
  pasted: PastedRequest,
  lookup: CredentialsLookup,
  server: ExplainingServer,
): AuthExplanation {
  const now = pasted.serverTime ?? server.time;
  const request = requestOf(pasted, server.host);
  const findings = findingsOf(request, lookup, now);
  const first = CHECKS.map(({ code }) => findings[code]).find((finding) => finding);
  const sent = request.headers.poly_timestamp;
  return {
    verdict: first?.code ?? "OK",
    hint: first?.hint ?? null,
    checks: CHECKS.map(({ code, check, passed }) => ({ check, code, ...outcomeOf(findings[code], passed) })),
    canonicalMessage: canonicalMessage({
      timestamp: sent !== undefined && isTimestamp(sent) ? sent : String(now),
      method: request.method,
      path: request.path,
      body: pasted.body ?? "",
    }),
    serverTime: now,
  };
}

function outcomeOf(finding: Finding, passed: string): { ok: boolean | null; message: string } {
  if (finding === null) return { ok: null, message: "not checked: an earlier check found too little" };
  return finding === undefined ? { ok: true, message: passed } : { ok: false, message: finding.error };
}

function findingsOf(
  request: SignedRequest,
  lookup: CredentialsLookup,
  now: number,
): Record<SigningCode, Finding> {
  const { headers } = request;
  const { poly_timestamp: timestamp, poly_api_key: apiKey, poly_signature: signature } = headers;
  const { poly_address: address, poly_passphrase: passphrase } = headers;
  const credentials = apiKey === undefined ? undefined : lookup(apiKey);
  const readable = timestamp !== undefined && isTimestamp(timestamp);
  const owned = (
    sent: string | undefined,
    refuse: (sent: string, credentials: StoredCredentials) => Finding,
  ): Finding => (sent === undefined || credentials === undefined ? null : refuse(sent, credentials));
  return {
    MISSING_AUTH_HEADER: refuseMissing(headers),
    DUPLICATE_AUTH_HEADER: refuseDuplicate(request.rawHeaders),
    INVALID_TIMESTAMP: timestamp === undefined ? null : refuseTimestamp(timestamp),
    TIMESTAMP_OUT_OF_WINDOW: readable ? refuseSkew(timestamp, now, WINDOW_SECONDS) : null,
    UNKNOWN_API_KEY: apiKey === undefined ? null : credentials ? undefined : refuseUnknownKey(),
    ADDRESS_MISMATCH: owned(address, refuseAddress),
    INVALID_PASSPHRASE: owned(passphrase, refusePassphrase),
    INVALID_SIGNATURE: owned(signature, (sent, own) =>
      readable ? refuseSignature(request, timestamp, sent, own) : null,
    ),
  };
}

const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i;

const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])(?=:|$)/i;

/** The names under which this machine alone reaches a server on it; of another machine its own. */
const namesOf = (host: string): string[] =>
  LOOPBACK.test(host)
    ? [host, ...["localhost", "127.0.0.1", "[::1]"].map((name) => host.replace(LOOPBACK, name))]
    : [host];

/** The request as the server would have received it; where no host is pasted, it came to the one that explains it. */
function requestOf(
  { method, url, path, headers, body = "" }: PastedRequest,
  ownHost: string | undefined,
): SignedRequest {
  const given = url ?? path ?? "";
  const [origin = "", host] = ORIGIN.exec(given) ?? [];
  const target = given.slice(origin.length).replace(/#.*$/s, "");
  const relative = target.startsWith("/clob/") ? target.slice("/clob".length) : target;
  const received = new Map<string, string>(host ? [["host", host]] : []);
  const rawHeaders: string[] = [];
  for (const [name, sent] of Object.entries(headers)) {
    const value = sent.trim();
    const key = name.trim().toLowerCase();
    const before = received.get(key);
    received.set(key, before === undefined || key === "host" ? value : `${before}, ${value}`);
    rawHeaders.push(name.trim(), value);
  }
  const named = [host, received.get("host")].filter(
    (name): name is string => name !== undefined && name !== "",
  );
  const names = named.length > 0 || ownHost === undefined ? named : namesOf(ownHost);
  return {
    method: method.toUpperCase(),
    hosts: [...new Set(names)],
    path: relative.replace(/\?.*$/s, ""),
    url: `/clob${relative}`,
    headers: Object.fromEntries(received),
    rawHeaders,
    body: Buffer.from(body),
  };
}
