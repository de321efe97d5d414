import type { Line } from "../engine/journal-line.ts";

/** What a server answers with where it refuses; none of it where something else answers. */
interface Refused {
  readonly error?: string;
  readonly code?: string;
  readonly hint?: string;
}

/** A request that was refused or not answered; the message says why. */
export class AskError extends Error {
  override readonly name = "AskError";
  readonly code: string;
  readonly hint: string;

  constructor(message: string, code = "", hint = "") {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

const TOKEN = "clobsim-sim-token";

/** The exchange that served the page. */
export class Server {
  /** What stands before every path: `/3` of the third of a pool. */
  readonly prefix: string;

  constructor(prefix: string) {
    this.prefix = prefix;
  }

  /** Sends a request as JSON and answers the reply. @throws AskError */
  async ask(method: "GET" | "POST" | "DELETE", path: string, body?: object): Promise<unknown> {
    const response = await this.send(method, path, body);
    return response.json();
  }

  /** The same, with the reply as it comes. @throws AskError */
  async send(
    method: "GET" | "POST" | "DELETE",
    path: string,
    body?: object,
    more: { readonly headers?: Record<string, string>; readonly signal?: AbortSignal } = {},
  ): Promise<Response> {
    const token = sessionStorage.getItem(TOKEN);
    const headers = {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(token === null ? {} : { "x-sim-token": token }),
      ...more.headers,
    };
    const sent = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    let response: Response;
    try {
      response = await fetch(this.prefix + path, {
        ...sent,
        ...(more.signal ? { signal: more.signal } : {}),
      });
    } catch {
      throw new AskError("the server does not answer", "UNREACHABLE");
    }
    if (response.ok) return response;
    const { error, code, hint } = (await response.json().catch(() => ({}))) as Refused;
    throw new AskError(error ?? `the server answered ${response.status}`, code, hint);
  }

  /** Remembers the token of the control plane for as long as the tab is open. */
  set token(token: string) {
    sessionStorage.setItem(TOKEN, token);
  }
}

/** A line as a journal has it, of what a server told. */
export const lineTold = (n: number, k: string, t: number, d: unknown, r = 0): Line =>
  ({ n, p: 0, s: 0, t, k, d, r, c: 0 }) as Line;
