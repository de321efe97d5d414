import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";
import { checkSignedRequest, equalInConstantTime } from "../api/authentication.ts";
import { ApiError } from "../api/errors.ts";
import { isLoopback } from "../api/loopback.ts";
import { AUTH_HEADERS, type HeaderValues } from "../api/signing.ts";
import { quoted } from "../core/format.ts";
import type { Address } from "../core/terms.ts";
import { headerValues, type Incoming, pathOf } from "./messages.ts";
import type { Service, ServiceOptions } from "./service.ts";

const HOST = /^(\[[0-9a-f:.]+\]|[^:/@?#\s[\]]+)(?::[0-9]{1,5})?$/;
const ABSOLUTE = /^https?:\/\/([^/?#]*)/i;

/**
 * Refuses a request whose Host header, or absolute target, names another machine, as a defense against DNS rebinding.
 * Reduces an absolute target of an allowed host to its path.
 * @throws ApiError `HOST_NOT_ALLOWED`.
 */
export function guardHost(options: ServiceOptions, request: Incoming): void {
  const hosts = headerValues(request.rawHeaders, "host");
  if (hosts.length !== 1)
    throw refuse(hosts.length === 0 ? "no Host header" : `${hosts.length} Host headers`);
  checkName(options, hosts[0] as string);
  if (request.url.startsWith("/")) return;
  const authority = ABSOLUTE.exec(request.url);
  if (authority === null) {
    if (request.url === "*" && request.method === "OPTIONS") return;
    throw refuse(`the target ${quoted(request.url)}`);
  }
  checkName(options, authority[1] as string);
  const target = request.url.slice(authority[0].length);
  request.url = target.startsWith("/") ? target : `/${target}`;
}

function checkName({ allowHosts, beyondLoopback }: ServiceOptions, host: string): void {
  const name = HOST.exec(host.toLowerCase())?.[1];
  if (name === undefined) throw refuse(`the Host ${quoted(host)}`);
  if (isLoopback(name) || allowHosts.includes(name)) return;
  // Any IP address is safe because DNS rebinding needs a DNS name.
  if (beyondLoopback && isIP(name.replace(/^\[|\]$/g, "")) !== 0) return;
  throw refuse(`the Host ${quoted(host)}`);
}

const refuse = (found: string): ApiError =>
  new ApiError("HOST_NOT_ALLOWED", `expected a Host header that names this machine, found ${found}`, {
    hint: "use localhost or 127.0.0.1, or start with --allow-host NAME",
  });

const ORIGIN = /^https?:\/\/(\[[0-9a-f:.]+\]|[^/:@?#\s]+)(?::[0-9]{1,5})?$/;

/** Whether an Origin header names a page of this machine; the value `null` does not. */
function allowedOrigin(origin: string): boolean {
  const host = ORIGIN.exec(origin.toLowerCase())?.[1];
  return host !== undefined && isLoopback(host);
}

/** Returns headers, as flat pairs, that grant something to pages of loopback origins, and nothing to others. */
export const headersFor = (origin: string, ...granted: readonly string[]): string[] =>
  allowedOrigin(origin)
    ? ["vary", "origin", "access-control-allow-origin", origin, ...granted]
    : ["vary", "origin"];

const ALLOWED_HEADERS = [
  ...AUTH_HEADERS,
  ...["poly_nonce", "content-type", "authorization", "x-sim-token", "last-event-id"],
].join(", ");

/** Returns the headers of the answer to a preflight. */
export const preflightHeaders = (origin: string): string[] =>
  headersFor(
    origin,
    ...["access-control-allow-methods", "GET, HEAD, POST, DELETE, OPTIONS"],
    ...["access-control-allow-headers", ALLOWED_HEADERS],
    ...["access-control-max-age", "600"],
    ...["access-control-allow-private-network", "true"],
  );

/** Returns the address whose credentials signed the request. @throws ApiError the first 401 that applies. */
export function authenticate(service: Service, request: Incoming, body: Buffer): Address {
  return checkSignedRequest(
    {
      method: request.method,
      path: pathOf(request.url).slice("/clob".length),
      url: request.url,
      prefix: service.options.prefix,
      headers: request.headers as HeaderValues,
      rawHeaders: request.rawHeaders,
      body,
    },
    (apiKey) => service.keyring.find(apiKey),
    Math.floor(service.exchange.now / 1000),
  );
}

/**
 * Checks access to the control plane.
 * @throws ApiError `ORIGIN_NOT_ALLOWED` for foreign web pages, `SIM_TOKEN_REQUIRED` for callers without the token.
 */
export function guardControl(options: ServiceOptions, { headers }: Incoming): void {
  guardOrigin(headers, "the control plane");
  if (isTrusted(options, headers)) return;
  const without = headers.authorization === undefined ? "none" : "an authorization header without Bearer";
  const found = tokenIn(headers) === undefined ? without : "another one";
  throw new ApiError("SIM_TOKEN_REQUIRED", `the control plane needs its token, found ${found}`, {
    hint: "send the value of --sim-token as authorization: Bearer TOKEN or as x-sim-token",
    headers: { "www-authenticate": "Bearer" },
  });
}

/** Refuses foreign web pages access to a part of the server. @throws ApiError `ORIGIN_NOT_ALLOWED`. */
export function guardOrigin({ origin, host }: IncomingHttpHeaders, part: string): void {
  if (origin === undefined || allowedOrigin(origin) || isOwn(origin, host)) return;
  throw new ApiError("ORIGIN_NOT_ALLOWED", `a page of ${quoted(origin, 200)} may not use ${part}`, {
    hint: `${part} serves pages of localhost only`,
  });
}

/** Whether a page came from this server, by comparing Origin to Host, which `guardHost` has checked. */
const isOwn = (origin: string, host: string | undefined): boolean =>
  host !== undefined && /^https?:\/\/(.+)$/.exec(origin.toLowerCase())?.[1] === host.toLowerCase();

/** Whether a caller sent the token of the control plane; true for all callers if no token is set. */
export function isTrusted({ simToken }: ServiceOptions, headers: IncomingHttpHeaders): boolean {
  if (simToken === null) return true;
  const sent = tokenIn(headers);
  return typeof sent === "string" && equalInConstantTime(sent, simToken);
}

const tokenIn = (headers: IncomingHttpHeaders): string | string[] | undefined =>
  /^Bearer (.*)$/i.exec(headers.authorization ?? "")?.[1] ?? headers["x-sim-token"];
