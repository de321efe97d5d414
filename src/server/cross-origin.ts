import { AUTH_HEADERS } from "../api/signing.ts";
import { isLoopbackName } from "./host-guard.ts";

const ORIGIN = /^https?:\/\/(\[[0-9a-f:.]+\]|[^/:@?#\s]+)(?::[0-9]{1,5})?$/;

/** Whether an Origin header names a page of this machine; `null` and everything else is foreign. */
export function allowedOrigin(origin: string): boolean {
  const host = ORIGIN.exec(origin.toLowerCase())?.[1];
  return host !== undefined && isLoopbackName(host);
}

const ALLOWED_HEADERS = [...AUTH_HEADERS, "poly_nonce", "content-type", "authorization", "x-sim-token"].join(
  ", ",
);

/** The answer to a browser's preflight, as flat header pairs; a foreign origin is told of nothing it may do. */
export function preflightHeaders(origin: string): string[] {
  if (!allowedOrigin(origin)) return ["vary", "origin"];
  return [
    "vary",
    "origin",
    "access-control-allow-origin",
    origin,
    "access-control-allow-methods",
    "GET, HEAD, POST, DELETE, OPTIONS",
    "access-control-allow-headers",
    ALLOWED_HEADERS,
    "access-control-max-age",
    "600",
    "access-control-allow-private-network",
    "true",
  ];
}
