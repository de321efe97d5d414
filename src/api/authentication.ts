import { Buffer } from "node:buffer";
import * as z from "zod";
import { quoted } from "../core/format.ts";
import { isAddress } from "../core/terms.ts";
import { isUnixSeconds } from "../core/time.ts";
import { endpoints } from "./endpoint.ts";
import { ApiError, type ERROR_SCOPES, withPrefix } from "./errors.ts";
import { isLoopback } from "./loopback.ts";
import { objectBody } from "./request-body.ts";
import * as field from "./schemas.ts";
import { exactly, type ReplyOf } from "./schemas.ts";
import {
  AUTH_HEADERS,
  type AuthHeader,
  type CredentialsLookup,
  canonicalMessage,
  type HeaderValues,
  hmacKeyOf,
  type Problem,
  type SignedRequest,
  type StoredCredentials,
  skewProblem,
  timestampHint,
  WINDOW_SECONDS,
} from "./signing.ts";
import { explainSignature } from "./signing-mistakes.ts";

/** Input of the checks; `credentials` are those of the API key that was sent, undefined if it is missing or unknown. */
interface CheckInput {
  readonly request: SignedRequest;
  readonly credentials: StoredCredentials | undefined;
  /** Whole Unix seconds. */
  readonly serverTime: number;
}

/** A problem; undefined if the check passes; null if it cannot be made because an earlier one failed. */
type CheckResult = Problem | undefined | null;

interface Check {
  /** Description of the requirement. */
  readonly check: string;
  /** Message of an explanation if the check passes. */
  readonly passed: string;
  readonly find: (input: CheckInput) => CheckResult;
}

type SignedCode = (typeof ERROR_SCOPES)["signed"][number];

/** The checks of a signed request in order of precedence, keyed by the error code of a failure. */
const CHECKS: Readonly<Record<SignedCode, Check>> = {
  MISSING_AUTH_HEADER: {
    check: "all five headers are there",
    passed: "none of the five headers is missing",
    find: ({ request: { headers } }) => {
      const field = AUTH_HEADERS.find((header) => headers[header] === undefined);
      if (field === undefined) return undefined;
      return { message: `header ${field} is missing`, hint: missingHint(field, headers), details: { field } };
    },
  },
  DUPLICATE_AUTH_HEADER: {
    check: "no header is repeated",
    passed: "none of the five headers was sent twice",
    find: ({ request }) => duplicateProblem(request.rawHeaders),
  },
  INVALID_TIMESTAMP: {
    check: "the timestamp is in Unix seconds",
    passed: "poly_timestamp is a whole number of seconds",
    find: ({ request: { headers } }) => {
      const sent = headers.poly_timestamp;
      if (sent === undefined) return null;
      if (isUnixSeconds(sent)) return undefined;
      const message = `poly_timestamp ${quoted(sent, 40)} is not a Unix time in whole seconds`;
      return { message, hint: timestampHint(sent), details: { field: "poly_timestamp" } };
    },
  },
  TIMESTAMP_OUT_OF_WINDOW: {
    check: `the timestamp is within ${WINDOW_SECONDS} s of the server's time`,
    passed: "poly_timestamp is near enough to the server's time",
    find: ({ request: { headers }, serverTime }) => {
      const sent = headers.poly_timestamp;
      return sent !== undefined && isUnixSeconds(sent) ? skewProblem(sent, serverTime, WINDOW_SECONDS) : null;
    },
  },
  UNKNOWN_API_KEY: {
    check: "the API key is known",
    passed: "poly_api_key belongs to a wallet",
    find: ({ request: { headers }, credentials }) => {
      if (headers.poly_api_key === undefined) return null;
      if (credentials !== undefined) return undefined;
      const hint =
        "a reset deletes all credentials, a restored snapshot those derived after it: derive new ones with POST /clob/auth/derive-api-key";
      return { message: "poly_api_key is not a key of this server", hint };
    },
  },
  ADDRESS_MISMATCH: {
    check: "the address is that of the key's wallet",
    passed: "poly_address is the wallet that poly_api_key was issued to",
    find: ({ request: { headers }, credentials }) => {
      const sent = headers.poly_address;
      if (sent === undefined || credentials === undefined) return null;
      if (!isAddress(sent)) {
        const hint = "an address is 0x and 40 hexadecimal digits";
        return { message: "poly_address is not an address", hint, details: { field: "poly_address" } };
      }
      if (sent.toLowerCase() === credentials.address) return undefined;
      const hint = "send the address that derived the key: each wallet has keys of its own";
      return { message: "poly_address is not the wallet that poly_api_key was issued to", hint };
    },
  },
  INVALID_PASSPHRASE: {
    check: "the passphrase is the key's",
    passed: "poly_passphrase was issued with poly_api_key",
    find: ({ request: { headers }, credentials }) => {
      const sent = headers.poly_passphrase;
      if (sent === undefined || credentials === undefined) return null;
      if (equalInConstantTime(sent, credentials.passphrase)) return undefined;
      const hint =
        "apiKey, secret and passphrase of one derivation go together: another one issues a new set";
      return { message: "poly_passphrase is not the one issued with poly_api_key", hint };
    },
  },
  INVALID_SIGNATURE: {
    check: "the signature is that of this request",
    passed: "poly_signature is the HMAC-SHA256 of the canonical message",
    find: ({ request, credentials }) => {
      const { poly_timestamp: timestamp, poly_signature: sent } = request.headers;
      if (sent === undefined || credentials === undefined) return null;
      if (timestamp === undefined || !isUnixSeconds(timestamp)) return null;
      const signed = timestamp + request.method + request.path;
      const digest = hmacKeyOf(credentials).hex(signed, request.body);
      if (equalInConstantTime(sent.toLowerCase(), digest)) return undefined;
      const { hint, mistakes } = explainSignature(request, timestamp, sent, credentials);
      const message =
        "poly_signature is not the HMAC-SHA256 of this request under the secret of poly_api_key";
      return { message, hint, ...(mistakes.length > 0 && { details: { mistakes } }) };
    },
  },
};
const IN_ORDER = Object.entries(CHECKS) as [SignedCode, Check][];

function missingHint(name: AuthHeader, headers: HeaderValues): string {
  const proxies = "proxies such as nginx drop headers with underscores unless underscores_in_headers is on";
  const hyphened = name.replaceAll("_", "-");
  if (headers[hyphened] !== undefined) return `${hyphened} was sent, it must be ${name}; ${proxies}`;
  const all = `a signed request carries ${AUTH_HEADERS.join(", ")}`;
  return AUTH_HEADERS.some((header) => headers[header] !== undefined) ? all : `${all}; ${proxies}`;
}

const UNDERSCORE = 95;

/** Returns a problem if one of the five headers was sent twice, in any letter case. */
export function duplicateProblem(rawHeaders: readonly string[]): Problem | undefined {
  let seen = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const sent = rawHeaders[at] as string;
    if (sent.charCodeAt(4) !== UNDERSCORE) continue;
    const index = AUTH_HEADERS.indexOf(sent.toLowerCase() as AuthHeader);
    if (index < 0) continue;
    const field = AUTH_HEADERS[index];
    if ((seen & (1 << index)) !== 0)
      return { message: `header ${field} was sent more than once`, details: { field } };
    seen |= 1 << index;
  }
  return undefined;
}

/** Compares without allocating, in a time that depends on the length of `expected` only. */
export function equalInConstantTime(sent: string, expected: string): boolean {
  let difference = sent.length ^ expected.length;
  for (let at = 0; at < expected.length; at += 1) difference |= sent.charCodeAt(at) ^ expected.charCodeAt(at);
  return difference === 0;
}

const credentialsOf = ({ headers: { poly_api_key: apiKey } }: SignedRequest, lookup: CredentialsLookup) =>
  apiKey === undefined ? undefined : lookup(apiKey);

/**
 * Returns the address, in lower case, of the wallet that sent a signed request; `serverTime` is in whole Unix seconds.
 * @throws ApiError for the first check that fails.
 */
export function checkSignedRequest(
  request: SignedRequest,
  lookup: CredentialsLookup,
  serverTime: number,
): string {
  const credentials = credentialsOf(request, lookup);
  const input = { request, credentials, serverTime };
  for (const [code, { find }] of IN_ORDER) {
    const problem = find(input);
    if (problem) throw new ApiError(code, problem.message, problem);
  }
  return credentials?.address ?? "";
}

const pastedRequestBody = objectBody("PastedRequest", {
  method: z.string().min(1).max(16),
  url: z.string().min(1).max(16_384).optional().describe("The URL, or the path from /clob on."),
  path: z.string().min(1).max(16_384).optional().describe("Alias of url."),
  headers: z.record(z.string(), z.string()),
  body: z.string().optional(),
  serverTime: z.int().min(0).optional().describe("Unix seconds; default: now."),
});

const authExplanationSchema = exactly("AuthExplanation", {
  verdict: z.string(),
  hint: z.string().nullable(),
  checks: z.array(
    exactly("AuthCheck", {
      check: z.string(),
      code: z.string(),
      ok: z.boolean().nullable(),
      message: z.string(),
    }),
  ),
  canonicalMessage: z.string(),
  serverTime: field.unixSeconds,
});

/** POST /sim/explain-auth (contract, section 7). */
export const explainAuthEndpoints = endpoints("control", "Control plane", {
  explainAuth: {
    route: "POST /sim/explain-auth",
    summary: "Explain why a signed request would be answered with 401",
    body: pastedRequestBody,
    reply: authExplanationSchema,
    errors: ["CONFLICTING_FIELDS"],
  },
});

/** A signed request as a person pastes it in: `url` is a full URL, or the path with or without `/clob`. */
export type PastedRequest = ReplyOf<typeof pastedRequestBody.schema>;

interface ExplainingServer {
  /** In whole Unix seconds. */
  readonly time: number;
  /** Host name and port under which the client reached it. */
  readonly host: string | undefined;
  /** Prefix of its paths. */
  readonly prefix: string;
}

/**
 * Runs all checks of a signed request, also those after the first failure, and reports each result.
 * @throws ApiError `CONFLICTING_FIELDS` if url and path are given and differ
 */
export function explainAuth(
  pasted: PastedRequest,
  lookup: CredentialsLookup,
  server: ExplainingServer,
): ReplyOf<typeof authExplanationSchema> {
  const serverTime = pasted.serverTime ?? server.time;
  const request = requestOf(pasted, server);
  const credentials = credentialsOf(request, lookup);
  const input = { request, credentials, serverTime };
  const results = IN_ORDER.map(([code, { find, ...texts }]) => ({ code, ...texts, found: find(input) }));
  const first = results.find(({ found }) => found);
  const hint = first?.found?.hint;
  const sent = request.headers.poly_timestamp;
  return {
    verdict: first?.code ?? "OK",
    hint: withPrefix(hint, server.prefix) ?? null,
    checks: results.map(({ check, code, passed, found }) => ({ check, code, ...resultOf(found, passed) })),
    canonicalMessage: canonicalMessage({
      timestamp: sent !== undefined && isUnixSeconds(sent) ? sent : String(serverTime),
      method: request.method,
      path: request.path,
      body: pasted.body ?? "",
    }),
    serverTime,
  };
}

function resultOf(result: CheckResult, passed: string): { ok: boolean | null; message: string } {
  if (result === null) return { ok: null, message: "not checked: an earlier check found too little" };
  return result === undefined ? { ok: true, message: passed } : { ok: false, message: result.message };
}

const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i;

/** Returns the usual loopback names of a loopback host, with its port, and any other host alone. */
function namesOf(host: string): string[] {
  const name = host.replace(/:\d*$/, "");
  const port = host.slice(name.length);
  return isLoopback(name)
    ? [host, ...["localhost", "127.0.0.1", "[::1]"].map((each) => each + port)]
    : [host];
}

/** Returns the host of a URL or path, its target from below `/clob` on, and the path of that target. */
function targetIn(given: string, prefix: string) {
  const [origin = "", host] = ORIGIN.exec(given) ?? [];
  const target = given.slice(origin.length).replace(/#.*$/s, "");
  const clob = ["/clob", `${prefix}/clob`].find((front) => target.startsWith(`${front}/`)) ?? "";
  const relative = target.slice(clob.length);
  return { host, relative, path: relative.replace(/\?.*$/s, "") };
}

/** Builds the request as the server would have received it; without a pasted host, this server's is used. */
function requestOf(
  { method, url, path, headers, body = "" }: PastedRequest,
  { host: ownHost, prefix }: ExplainingServer,
): SignedRequest {
  const target = targetIn(url ?? path ?? "", prefix);
  const { host, relative } = target;
  const other = targetIn(path ?? url ?? "", prefix);
  if (other.path !== target.path) {
    throw new ApiError(
      "CONFLICTING_FIELDS",
      `url and path contradict each other: ${quoted(target.path)} and ${quoted(other.path)}`,
      { hint: "send one of them, as the request was sent", details: { fields: ["url", "path"] } },
    );
  }
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
    path: target.path,
    url: `/clob${relative}`,
    prefix,
    headers: Object.fromEntries(received),
    rawHeaders,
    body: Buffer.from(body),
  };
}
