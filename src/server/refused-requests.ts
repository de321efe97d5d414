import { Buffer } from "node:buffer";
import type { JsonObject } from "../api/endpoint.ts";
import type { AnyEndpoint } from "../api/endpoints.ts";
import { ApiError } from "../api/errors.ts";
import { fieldsOf, readJsonObject, unknownFieldsAt } from "../api/request-body.ts";
import type { AskedFor, Scalar } from "../core/refusals.ts";
import { readAddress } from "../core/terms.ts";
import { type Incoming, pathOf, type Service } from "./service.ts";

/** Limits: bytes of a recorded request, characters of its path, and characters of a value if the request is too long. */
const MAX_ASKED = 640;
const MAX_PATH = 100;
const MAX_VALUE = 80;

/**
 * Records a trading request that is answered with a 4xx, or a control request whose command is refused. Of the headers
 * only the address is recorded. The known fields of body and query are recorded only if the signature is valid.
 */
export function noteRefusal(
  service: Service,
  endpoint: AnyEndpoint,
  request: Incoming,
  body: Buffer,
  error: unknown,
): void {
  const { method, access, path } = endpoint;
  if (!(error instanceof ApiError) || error.status >= 500 || method === "GET") return;
  const { command } = error;
  const isDerived = command?.kind === "deriveCredentials";
  if (access === "control" ? command === null : !path.startsWith("/clob/")) return;
  const caller = isDerived ? command.address : request.caller;
  service.noteRefused({
    method,
    path: pathOf(request.url).slice(0, MAX_PATH),
    address: caller || claimedAddress(endpoint, request, body),
    isProven: caller !== "",
    status: error.status,
    code: error.code,
    field: fieldIn(error, endpoint),
    asked:
      command === null ? askedIn(service, endpoint, request, body) : bounded({ kind: "command", command }),
  });
}

/** Returns the address in the header, or in the body of a public endpoint; null if there is none. */
function claimedAddress({ access }: AnyEndpoint, { headers }: Incoming, body: Buffer): string | null {
  const sent = headers.poly_address ?? (access === "public" ? objectIn(body)?.address : undefined);
  return typeof sent === "string" ? readAddress(sent) : null;
}

/** Returns the field that the details of an error name as value, the first of several, or as key; null if there is none. */
function fieldIn({ status, help: { details } }: ApiError, endpoint: AnyEndpoint): string | null {
  if (details === undefined) return null;
  const { field, parameter, fields } = details;
  const named = field ?? parameter ?? (Array.isArray(fields) ? fields[0] : undefined);
  if (typeof named === "string") return named.slice(0, MAX_VALUE);
  if (status !== 400) return null;
  return fieldsOf(endpoint.body).find((name) => Object.hasOwn(details, name)) ?? null;
}

function askedIn(service: Service, endpoint: AnyEndpoint, request: Incoming, bytes: Buffer): AskedFor | null {
  if (request.caller === "") return null;
  const fields = fieldsOf(endpoint.body);
  const sent = fields.length === 0 ? {} : objectIn(bytes);
  if (sent === null) return null;
  const body = Object.entries(sent).filter(([name]) => fields.includes(name));
  const given = queryIn(request.url);
  const query = given.filter(([name]) => Object.hasOwn(endpoint.query, name));
  // Unknown fields are not recorded. Where they are refused, they are the reason, so that the record counts as cut.
  const isKnown = body.length === Object.keys(sent).length && query.length === given.length;
  const isDecided = isKnown || unknownFieldsAt(endpoint, service.options.unknownFields) !== "refuse";
  const isOnce = new Map(query).size === query.length;
  const isCut = !isDecided || !isOnce || body.some(([, value]) => !isScalar(value));
  const asked = (most: number): AskedFor => ({
    kind: "request",
    body: Object.fromEntries(body.map(([name, value]) => [name, scalarOf(value, most)])),
    query: Object.fromEntries(query.map(([name, value]) => [name, value.slice(0, most)])),
    isCut: isCut || most === MAX_VALUE,
  });
  return bounded(asked(MAX_ASKED)) ?? bounded(asked(MAX_VALUE));
}

const isScalar = (value: unknown): value is Scalar =>
  value === null || (typeof value === "number" ? Number.isFinite(value) : typeof value !== "object");

/** Returns a scalar, a text cut to `most` characters; null for a list, an object or a number without a JSON form. */
function scalarOf(value: unknown, most: number): Scalar {
  if (typeof value === "string") return value.slice(0, most);
  return isScalar(value) ? value : null;
}

/** Parses a body as an object, which is empty if it has no bytes; null if it is not valid. */
function objectIn(bytes: Buffer): JsonObject | null {
  try {
    return bytes.length === 0 ? {} : readJsonObject(bytes);
  } catch {
    return null;
  }
}

function queryIn(target: string): [name: string, value: string][] {
  const start = target.indexOf("?");
  return start < 0 ? [] : [...new URLSearchParams(target.slice(start + 1))];
}

const bounded = (asked: AskedFor): AskedFor | null =>
  Buffer.byteLength(JSON.stringify(asked)) <= MAX_ASKED ? asked : null;
