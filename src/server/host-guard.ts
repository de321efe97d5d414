import { isIP } from "node:net";
import { ApiError } from "../api/errors.ts";
import type { Incoming } from "./exchange-message.ts";

/** Whether a host name, without its port, always means this machine. */
export const isLoopbackName = (name: string): boolean =>
  name === "localhost" || name === "[::1]" || (isIP(name) === 4 && name.startsWith("127."));

/** Which names a Host header may carry. */
export interface HostRule {
  readonly allowHosts: readonly string[];
  /** Bound beyond loopback, the machine's own IP addresses are names too: a rebound DNS name is never an address. */
  readonly beyondLoopback: boolean;
}

const HOST = /^(\[[0-9a-f:.]+\]|[^:/@?#\s[\]]+)(?::[0-9]{1,5})?$/;
const ABSOLUTE = /^https?:\/\/([^/?#]*)/i;

/**
 * Refuses a request whose Host header, or absolute target, names another machine: the defence against DNS rebinding.
 * An absolute target of an allowed host is cut to the path that follows.
 * @throws ApiError `HOST_NOT_ALLOWED`.
 */
export function guardHost(rule: HostRule, request: Incoming): void {
  const hosts = hostsOf(request.rawHeaders);
  if (hosts.length !== 1)
    throw refuse(hosts.length === 0 ? "no Host header" : `${hosts.length} Host headers`);
  checkName(rule, hosts[0] as string);
  if (request.url.startsWith("/")) return;
  const authority = ABSOLUTE.exec(request.url);
  if (authority === null) {
    if (request.url === "*" && request.method === "OPTIONS") return;
    throw refuse(`the target ${quoted(request.url)}`);
  }
  checkName(rule, authority[1] as string);
  const target = request.url.slice(authority[0].length);
  request.url = target.startsWith("/") ? target : `/${target}`;
}

function hostsOf(rawHeaders: readonly string[]): string[] {
  const hosts: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === 4 && name.toLowerCase() === "host") hosts.push(rawHeaders[at + 1] as string);
  }
  return hosts;
}

function checkName(rule: HostRule, host: string): void {
  const name = HOST.exec(host.toLowerCase())?.[1];
  if (name === undefined) throw refuse(`the Host ${quoted(host)}`);
  if (isLoopbackName(name) || rule.allowHosts.includes(name)) return;
  if (rule.beyondLoopback && isIP(name.replace(/^\[|\]$/g, "")) !== 0) return;
  throw refuse(`the Host ${quoted(host)}`);
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, 100));

const refuse = (found: string): ApiError =>
  new ApiError("HOST_NOT_ALLOWED", `expected a Host header that names this machine, found ${found}`, {
    hint: "use localhost or 127.0.0.1, or start with --allow-host NAME",
  });
