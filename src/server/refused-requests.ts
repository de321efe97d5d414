import { Buffer } from "node:buffer";
import type { AnyBody, JsonObject } from "../api/endpoint.ts";
import type { AnyEndpoint } from "../api/endpoints.ts";
import { ApiError } from "../api/errors.ts";
import { readJsonObject, refusesUnknownFields } from "../api/request-body.ts";
import type { AskedFor, RefusedRequest, Scalar } from "../core/refusals.ts";
import { readAddress } from "../core/terms.ts";
import { type Incoming, pathOf } from "./messages.ts";
import type { Service } from "./service.ts";

/** Limits: bytes of a recorded request, characters of its path, and characters of a value if the request is too long. */
const MAX_ASKED = 640;
const MAX_PATH = 100;
const MAX_VALUE = 80;

/** What a refused request asked for, however it came. */
interface Asked {
  /** Without the query. */
  readonly path: string;
  /** The caller's address; empty unless its signature is valid. */
  readonly caller: string;
  /** Address in the header; undefined if there is none. */
  readonly claimed: unknown;
  /** Empty if there is no body and it may be left out; null if it is not an object. */
  readonly body: JsonObject | null;
  readonly query: readonly (readonly [name: string, value: string])[];
  /** Whether unknown fields are a reason to refuse the request. */
  readonly needsKnownFields: boolean;
}

/** Records a refused request; the known fields of body and query only if the signature is valid. */
export function recordRefusedRequest(
  service: Service,
  endpoint: AnyEndpoint,
  { url, caller, headers }: Incoming,
  bytes: Buffer,
  error: unknown,
): void {
  if (!isRecorded(endpoint, error)) return;
  const needsKnownFields = refusesUnknownFields(endpoint, service.options.unknownFields);
  const [path, body] = [pathOf(url), objectIn(endpoint.body, bytes)];
  const query = [...new URLSearchParams(url.slice(path.length + 1))];
  const asked = { path, caller, claimed: headers.poly_address, body, query, needsKnownFields };
  const refused = refusedRequest(endpoint, error, asked);
  service.recordRefused(refused);
  service.stream.refused(refused);
}

/** Whether a record has a request: a trading request that is answered with a 4xx, or a control request whose command is refused. */
export function isRecorded({ method, access, path }: AnyEndpoint, error: unknown): error is ApiError {
  if (!(error instanceof ApiError) || error.status >= 500 || method === "GET") return false;
  return access === "control" ? error.command !== null : path.startsWith("/clob/");
}

/** Returns the record of a request that `isRecorded`. */
export function refusedRequest(endpoint: AnyEndpoint, error: ApiError, asked: Asked): RefusedRequest {
  const { command, status, code } = error;
  const caller = command?.kind === "deriveCredentials" ? command.address : asked.caller;
  return {
    method: endpoint.method as RefusedRequest["method"],
    path: asked.path.slice(0, MAX_PATH),
    address: caller || claimedAddress(endpoint, asked),
    isProven: caller !== "",
    status,
    code,
    field: fieldIn(error, endpoint),
    asked: command === null ? askedFor(endpoint, asked) : bounded({ kind: "command", command }),
  };
}

/** Returns the address in the header, or in the body of a public endpoint; null if there is none. */
function claimedAddress({ access }: AnyEndpoint, { claimed, body }: Asked): string | null {
  const sent = claimed ?? (access === "public" ? body?.address : undefined);
  return typeof sent === "string" ? readAddress(sent) : null;
}

/** Returns the field that the details of an error name as value, the first of several, or as key; null if there is none. */
function fieldIn({ status, help: { details } }: ApiError, endpoint: AnyEndpoint): string | null {
  if (details === undefined) return null;
  const { field, parameter, fields } = details;
  const named = field ?? parameter ?? (Array.isArray(fields) ? fields[0] : undefined);
  if (typeof named === "string") return named.slice(0, MAX_VALUE);
  if (status !== 400) return null;
  return endpoint.body?.fields.find((name) => Object.hasOwn(details, name)) ?? null;
}

function askedFor(endpoint: AnyEndpoint, { caller, body: sent, query: given, needsKnownFields }: Asked) {
  const fields: readonly string[] = endpoint.body?.fields ?? [];
  if (caller === "" || (sent === null && fields.length > 0)) return null;
  const sentFields = fields.length === 0 || sent === null ? [] : Object.entries(sent);
  const body = sentFields.filter(([name]) => fields.includes(name));
  const query = given.filter(([name]) => Object.hasOwn(endpoint.query, name));
  // Unknown fields are not recorded. Where they are refused, they are the reason, so that the record counts as cut.
  const isKnown = body.length === sentFields.length && query.length === given.length;
  const isOnce = new Map(given).size === given.length;
  const isCut = (needsKnownFields && !isKnown) || !isOnce || body.some(([, value]) => !isScalar(value));
  const asked = (max: number): AskedFor => ({
    kind: "request",
    body: Object.fromEntries(body.map(([name, value]) => [name, scalarOf(value, max)])),
    query: Object.fromEntries(query.map(([name, value]) => [name, value.slice(0, max)])),
    isCut: isCut || max === MAX_VALUE,
  });
  return bounded(asked(MAX_ASKED)) ?? bounded(asked(MAX_VALUE));
}

const isScalar = (value: unknown): value is Scalar =>
  value === null || (typeof value === "number" ? Number.isFinite(value) : typeof value !== "object");

/** Returns a scalar, a text cut to `max` characters; null for a list, an object or a number without a JSON form. */
function scalarOf(value: unknown, max: number): Scalar {
  if (typeof value === "string") return value.slice(0, max);
  return isScalar(value) ? value : null;
}

/** Parses a body as an object, which is empty if it has no bytes and may be left out; null if it is not valid. */
function objectIn(spec: AnyBody, bytes: Buffer): JsonObject | null {
  try {
    return bytes.length === 0 && spec?.required !== true ? {} : readJsonObject(bytes);
  } catch {
    return null;
  }
}

const bounded = (asked: AskedFor): AskedFor | null =>
  Buffer.byteLength(JSON.stringify(asked)) <= MAX_ASKED ? asked : null;
