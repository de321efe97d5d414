import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { ApiError } from "../api/errors.ts";
import { inspectorPage, NOT_BUILT } from "../inspector-page.ts";
import { type Bytes, sendBytes, sendError } from "./send.ts";
import type { Incoming, Outgoing, RootPage, Service } from "./service.ts";

const compress = promisify(gzip);
const HTML = "text/html; charset=utf-8";

interface Page {
  readonly plain: Buffer;
  readonly gzipped: Buffer;
  /** Flat header pairs of every answer with the page, or with 304. */
  readonly headers: readonly string[];
  readonly tag: string;
}

/** The inspector's page, which browsers get at the root of an exchange. It is loaded by the first request. */
export class InspectorPage implements RootPage {
  #page: Promise<Page | null> | null = null;

  /** Answers with the page, or with 304 if the browser has it already. */
  async answer(service: Service, request: Incoming, response: Outgoing): Promise<void> {
    try {
      const page = await this.#load();
      if (page === null) {
        const hint = "GET /openapi.json lists what answers without it";
        throw new ApiError("UNAVAILABLE", NOT_BUILT, { hint, status: 503 });
      }
      sendBytes(service, request, response, answerFrom(page, request.headers));
    } catch (error) {
      sendError(service, request, response, error);
    }
  }

  /** Returns null if the page is not built. The next request tries again, because it may be built by then. */
  async #load(): Promise<Page | null> {
    this.#page ??= readPage();
    const page = await this.#page;
    if (page === null) this.#page = null;
    return page;
  }
}

async function readPage(): Promise<Page | null> {
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

/** Returns the page of a pool, with a link to each exchange, and its headers. */
export function poolPage(areOpen: readonly boolean[]): { readonly html: string; readonly headers: string[] } {
  const links = areOpen.map(
    (isOpen, index) => `<li><a href="${index + 1}/">/${index + 1}</a>${isOpen ? ", open" : ""}`,
  );
  const html = `<!doctype html>
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
  return { html, headers: [...headersOf(html), "content-type", HTML] };
}

function answerFrom(page: Page, headers: Incoming["headers"]): Bytes {
  if (isKnown(headers["if-none-match"], page.tag)) return { status: 304, headers: page.headers, bytes: null };
  const acceptsGzip = (weightOf(headers["accept-encoding"], "gzip") ?? 0) > 0;
  const [bytes, encoding] = acceptsGzip
    ? [page.gzipped, ["content-encoding", "gzip"]]
    : ([page.plain, []] as const);
  return { status: 200, headers: [...page.headers, "content-type", HTML, ...encoding], bytes };
}

const isKnown = (known: string | undefined, tag: string): boolean =>
  known !== undefined && (known.trim() === "*" || known.includes(tag.slice("W/".length)));

/** Whether a request prefers HTML to JSON, as those of browsers do. */
export function wantsPage({ method, headers: { accept } }: Pick<Incoming, "method" | "headers">): boolean {
  if (method !== "GET" && method !== "HEAD") return false;
  const html = weightOf(accept, "text/html") ?? 0;
  const json = weightOf(accept, "application/json");
  return html > 0 && (json === null ? html >= (weightOf(accept, "*/*") ?? 0) : html > json);
}

/** Returns the weight, 0 to 1, that a header such as Accept gives to a value; null if it does not name it. */
function weightOf(header: string | undefined, name: string): number | null {
  for (const part of (header ?? "").split(",")) {
    const [named = "", ...parameters] = part.split(";").map((each) => each.trim().toLowerCase());
    if (named !== name) continue;
    const weight = Number(parameters.find((each) => each.startsWith("q="))?.slice(2) ?? 1);
    return weight >= 0 && weight <= 1 ? weight : 0;
  }
  return null;
}
