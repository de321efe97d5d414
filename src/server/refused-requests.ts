import { Buffer } from "node:buffer";
import type { JsonObject } from "../api/endpoint.ts";
import type { AnyEndpoint } from "../api/endpoints.ts";
import { ApiError } from "../api/errors.ts";
import { fieldsOf, readJsonObject, unknownFieldsAt } from "../api/request-body.ts";
import type { AskedFor, Scalar } from "../core/refusals.ts";
import { readAddress } from "../core/terms.ts";
import { type Incoming, pathOf, type Service } from "./service.ts";

/** Bytes of what a request asked for, and characters of a path and of a value in a body that is longer. */
const MAX_ASKED = 640;
const MAX_PATH = 100;
const MAX_VALUE = 80;

/**
 * Notes a trading request that is answered with a 4xx, and one to the control plane whose command the rules refuse. Of
 * its headers only the address is kept; of body and query what its endpoint knows, and only once its signature is right.
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

/** The address that a header names, or the body of who has no credentials yet. */
function claimedAddress({ access }: AnyEndpoint, { headers }: Incoming, body: Buffer): string | null {
  const sent = headers.poly_address ?? (access === "public" ? objectIn(body)?.address : undefined);
  return typeof sent === "string" ? readAddress(sent) : null;
}

/** The field that an error's details name, alone or as the first of several; of a value out of its range, by its own name. */
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
  // What is unknown is left out, and decides where it is refused.
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

/** A text up to so many characters; null for a list, an object, or a number that JSON cannot carry. */
function scalarOf(value: unknown, most: number): Scalar {
  if (typeof value === "string") return value.slice(0, most);
  return isScalar(value) ? value : null;
}

/** The object that a body holds, an empty one where it has no bytes; null where it cannot be read. */
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
