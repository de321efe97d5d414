import { createHash } from "node:crypto";
import type { Duplex } from "node:stream";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import express from "express";
import { CHAIN_PATH } from "../api/chain-rpc.ts";
import { ApiError, errorBody } from "../api/errors.ts";
import { quoted } from "../core/format.ts";
import { inspectorPage, NOT_BUILT } from "../inspector-page.ts";
import { VERSION } from "../version.ts";
import { guardHost, preflightHeaders } from "./access.ts";
import { ChainSockets } from "./chain-sockets.ts";
import type { Site } from "./http-server.ts";
import { Incoming, type Outgoing, pathOf } from "./messages.ts";
import { mountEndpoints } from "./router.ts";
import { internalError, jsonReply, type Reply, send, sendError, simHeaders, type TextReply } from "./send.ts";
import type { Service } from "./service.ts";

/** Returns a generator of request ids. */
function requestIds(): () => string {
  let count = 0;
  return () => `req-${++count}`;
}

/** One exchange at the root of its server. */
export class ExchangeSite implements Site {
  readonly Request = Incoming;
  readonly service: Service;
  readonly nextId = requestIds();
  readonly chainSockets: ChainSockets;
  readonly members = [this];
  /**
   * A bare Express router, because an Express application adds work to each request that costs more than the routing. Paths
   * are case-sensitive and have no trailing slash.
   */
  readonly #router = express.Router({ caseSensitive: true, strict: true });

  /** `page` may be shared by the exchanges of a server. */
  constructor(service: Service, page = new InspectorPage()) {
    this.service = service;
    this.chainSockets = new ChainSockets(service, this.nextId);
    this.#router.get("/", (request, response, next) => {
      if (!wantsPage(request)) next();
      else void page.answer(service, response as never);
    });
    mountEndpoints(this.#router, service);
  }

  headersOf(requestId: string): string[] {
    return simHeaders(this.service, requestId);
  }

  /** Assigns the id, checks the host, answers preflights, then routes. */
  answer(request: Incoming, response: Outgoing, refusal?: ApiError): void {
    const { service } = this;
    request.requestId = this.nextId();
    try {
      guardHost(service.options, request);
      if (refusal !== undefined) throw refusal;
      if (request.url.includes("#")) {
        throw new ApiError("ROUTE_NOT_FOUND", "a request target has no fragment", {
          hint: "remove the # and everything after it",
        });
      }
      const { method, headers } = request;
      const { origin } = headers;
      if (method === "OPTIONS" && origin !== undefined && "access-control-request-method" in headers) {
        send(service, response, { status: 204, headers: preflightHeaders(origin), body: null });
        return;
      }
    } catch (error) {
      sendError(service, response, error);
      return;
    }
    this.#router(request as never, response as never, (error: unknown) =>
      sendError(service, response, error instanceof URIError ? undecodable(request) : error),
    );
  }

  upgrade(request: Incoming, socket: Duplex, head: Buffer): void {
    void this.chainSockets.accept(request, socket, head);
  }
}

const undecodable = ({ url }: Incoming): ApiError =>
  new ApiError("INVALID_PARAMETER", `the path ${quoted(pathOf(url), 200)} is not valid percent-encoding`);

const NUMBERED = /^\/(\d+)(?=[/?#]|$)/;

/** Parses `/3/clob/time?x` as `/clob/time?x` of exchange 3; null if the path does not begin with a number. */
function targetIn(url: string): { readonly number: number; readonly rest: string } | null {
  const [prefix, digits = ""] = NUMBERED.exec(url) ?? [];
  if (prefix === undefined) return null;
  const rest = url.slice(prefix.length);
  // 03 is refused, so that each exchange has one address.
  const number = String(Number(digits)) === digits ? Number(digits) : Number.NaN;
  return { number, rest: rest.startsWith("/") ? rest : `/${rest}` };
}

/**
 * Serves exchanges at `/1` to `/size` of one server. Each is opened by its first request. The pool removes the number from
 * the path and passes the request to the exchange. The pool itself answers `GET /`, `GET /healthz` and unknown paths.
 */
export class Pool implements Site {
  readonly Request: typeof Incoming;
  readonly service: Site["service"];
  readonly nextId = requestIds();
  readonly #size: number;
  readonly #open: (number: number) => ExchangeSite;
  readonly #members = new Map<number, ExchangeSite>();

  /** `open` opens the exchange that is served below `/number`. */
  constructor(service: Site["service"], size: number, open: (number: number) => ExchangeSite) {
    this.service = service;
    this.#size = size;
    this.#open = open;
    this.Request = requestsTo(size);
  }

  /** The opened exchanges, in the order of their first requests. */
  get members(): readonly ExchangeSite[] {
    return [...this.#members.values()];
  }

  headersOf(requestId: string): string[] {
    return ["x-request-id", requestId, "x-sim-pool", String(this.#size)];
  }

  answer(request: Incoming, response: Outgoing, refusal?: ApiError): void {
    try {
      guardHost(this.service.options, request);
      const target = targetIn(request.url);
      if (target === null) {
        if (refusal !== undefined) throw refusal;
        this.#send(response, this.#replyTo(request));
        return;
      }
      const member = this.#member(target.number);
      request.url = target.rest;
      member.answer(request, response, refusal);
    } catch (error) {
      this.#send(response, error instanceof ApiError ? error : this.#defect(request, error));
    }
  }

  upgrade(request: Incoming, socket: Duplex, head: Buffer): void {
    // `requestsTo` admits only upgrades with the number of an exchange.
    const { number, rest } = targetIn(request.url) ?? { number: 0, rest: "" };
    let member: ExchangeSite;
    try {
      member = this.#member(number);
    } catch (error) {
      this.#defect(request, error);
      socket.destroy();
      return;
    }
    request.url = rest;
    member.upgrade(request, socket, head);
  }

  /** Returns an exchange, opening it if needed. @throws ApiError `ROUTE_NOT_FOUND` if `number` is out of range. */
  #member(number: number): ExchangeSite {
    const size = this.#size;
    if (!isWithin(number, size)) {
      throw new ApiError("ROUTE_NOT_FOUND", `no such exchange: the pool has ${rangeOf(size)}`, {
        hint: number > size ? "start with a larger --pool for more" : beginWith(size, ""),
      });
    }
    const member = this.#members.get(number) ?? this.#open(number);
    this.#members.set(number, member);
    return member;
  }

  /** Returns the pool's own reply. @throws ApiError if the path or method has none. */
  #replyTo(request: Incoming): TextReply {
    const { method, headers } = request;
    const size = this.#size;
    const path = pathOf(request.url);
    const areOpen = Array.from({ length: size }, (_, index) => this.#members.has(index + 1));
    if (path === "/" && wantsPage(request)) return poolPage(areOpen);
    if (path !== "/" && path !== "/healthz") {
      throw new ApiError("ROUTE_NOT_FOUND", `${quoted(path, 200)} is not a path of the pool`, {
        hint: beginWith(size, path === "*" ? "" : path.replace(NO_NUMBER, "").slice(0, 200)),
      });
    }
    if (method !== "GET" && method !== "HEAD") {
      const allow = "GET, HEAD";
      const found = `${path} of the pool takes ${allow}, found ${method}`;
      throw new ApiError("METHOD_NOT_ALLOWED", found, { headers: { allow } });
    }
    if (path === "/healthz") return jsonReply('{"status":"ok"}', []);
    const exchanges = areOpen.map((isOpen, index) => ({
      url: `http://${headers.host}/${index + 1}`,
      isOpen,
    }));
    return jsonReply(JSON.stringify({ name: "clobsim", version: VERSION, pool: size, exchanges }), []);
  }

  #defect({ method, url }: Incoming, error: unknown): ApiError {
    this.service.log.defect(error, { method, path: pathOf(url) });
    return internalError();
  }

  #send(response: Outgoing, reply: TextReply | ApiError): void {
    const request = response.req;
    const requestId = this.nextId();
    request.requestId = requestId;
    const { status, headers, body, error } =
      reply instanceof ApiError ? jsonReply(JSON.stringify(errorBody(reply, requestId)), [], reply) : reply;
    const length = String(Buffer.byteLength(body));
    response.writeHead(status, [...this.headersOf(requestId), ...headers, "content-length", length]);
    response.end(request.method === "HEAD" ? undefined : body);
    this.service.log.request(request, status, error?.code);
  }
}

const isWithin = (number: number, size: number): boolean => number >= 1 && number <= size;

/** What stands in the place of an exchange's number: an invalid one such as `-1`, or one after superfluous slashes. */
const NO_NUMBER = /^\/*(?=\/)(?:\/[+-]?[\d.]*(?=\/|$))?/;

const beginWith = (size: number, rest: string): string =>
  `begin the path with the number of an exchange, ${rangeOf(size)}, such as /1${rest}`;

const rangeOf = (size: number): string => (size === 1 ? "/1" : `/1 to /${size}`);

/** Returns the request class of a pool: requests to the chain of each of its exchanges may become WebSockets. */
function requestsTo(size: number): typeof Incoming {
  return class extends Incoming {
    protected override get isToChain(): boolean {
      const target = targetIn(this.url);
      return target !== null && isWithin(target.number, size) && pathOf(target.rest) === CHAIN_PATH;
    }
  };
}

const compress = promisify(gzip);
const HTML = "text/html; charset=utf-8";

type LoadedPage = NonNullable<Awaited<ReturnType<typeof readPage>>>;

/** The inspector's page, which browsers get at the root of an exchange. It is loaded by the first request. */
export class InspectorPage {
  #page: Promise<LoadedPage | null> | null = null;

  /** Answers with the page, or with 304 if the browser has it already. */
  async answer(service: Service, response: Outgoing): Promise<void> {
    try {
      this.#page ??= readPage();
      const page = await this.#page;
      if (page === null) {
        // The next request tries again, because the page may be built by then.
        this.#page = null;
        const hint = "GET /openapi.json lists what answers without it";
        throw new ApiError("UNAVAILABLE", NOT_BUILT, { hint });
      }
      send(service, response, replyWith(page, response.req.headers));
    } catch (error) {
      sendError(service, response, error);
    }
  }
}

/** Returns the page with the headers of every answer that has it, or of 304; null if it is not built. */
async function readPage() {
  const html = await inspectorPage();
  if (html === null) return null;
  const plain = Buffer.from(html);
  const tag = `W/"${createHash("sha256").update(plain).digest("base64url").slice(0, 27)}"`;
  return { plain, gzipped: await compress(plain), headers: [...headersOf(html), "etag", tag], tag };
}

/** Returns the headers of a page, with the policy from its meta element. `frame-ancestors` works only as a header. */
function headersOf(html: string): string[] {
  const [, policy = "default-src 'none'"] =
    /http-equiv="content-security-policy" content="([^"]*)"/.exec(html) ?? [];
  return [
    ...["content-security-policy", `${policy}; frame-ancestors 'none'`],
    ...["x-content-type-options", "nosniff"],
    ...["referrer-policy", "no-referrer"],
    ...["cross-origin-opener-policy", "same-origin"],
    ...["cross-origin-resource-policy", "same-origin"],
    ...["cache-control", "no-cache"],
    ...["vary", "accept, accept-encoding"],
  ];
}

/** Returns the page of a pool, with a link to each exchange. */
function poolPage(areOpen: readonly boolean[]): TextReply {
  const links = areOpen.map(
    (isOpen, index) => `<li><a href="${index + 1}/">/${index + 1}</a>${isOpen ? ", open" : ""}`,
  );
  const body = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>clobsim pool</title>
<link rel="icon" href="data:,">
<h1>clobsim</h1>
<p>The exchanges of this pool. Each is opened by its first request.</p>
<ul>
${links.join("\n")}
</ul>
`;
  return { status: 200, headers: [...headersOf(body), "content-type", HTML], body };
}

/** Returns the answer with a page. It has no CORS headers, so that pages of other origins cannot read it. */
function replyWith({ headers, tag, plain, gzipped }: LoadedPage, sent: Incoming["headers"]): Reply {
  const known = sent["if-none-match"] ?? "";
  const isKnown = known.trim() === "*" || known.includes(tag.slice("W/".length));
  if (isKnown) return { status: 304, headers, body: null };
  const isGzip = (weightOf(sent["accept-encoding"], "gzip") ?? 0) > 0;
  const bytes = isGzip ? gzipped : plain;
  const length = ["content-length", String(bytes.length), "content-type", HTML];
  const encoding = isGzip ? ["content-encoding", "gzip"] : [];
  return { status: 200, headers: [...headers, ...length, ...encoding], body: [bytes] };
}

/** Whether a request prefers HTML to JSON, as those of browsers do. */
function wantsPage({ method, headers: { accept } }: Pick<Incoming, "method" | "headers">): boolean {
  if (method !== "GET" && method !== "HEAD") return false;
  const html = weightOf(accept, "text/html") ?? 0;
  const json = weightOf(accept, "application/json");
  return html > 0 && (json === null ? html >= (weightOf(accept, "*/*") ?? 0) : html > json);
}

/** Returns the weight, 0 to 1, that a header such as Accept gives to a value; null if it does not name it. */
function weightOf(header: string | undefined, name: string): number | null {
  const parts = (header ?? "").toLowerCase().split(",");
  const split = parts.map((part) => part.split(";").map((each) => each.trim()));
  const named = split.find(([value]) => value === name);
  if (named === undefined) return null;
  const weight = Number(named.find((each) => each.startsWith("q="))?.slice(2) ?? 1);
  return weight >= 0 && weight <= 1 ? weight : 0;
}
