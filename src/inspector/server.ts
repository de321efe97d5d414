/** Body of an error response; fields are missing if it is not from clobsim. */
interface ErrorBody {
  readonly error?: string;
  readonly code?: string;
  readonly hint?: string;
}

/** Request that was refused or got no response; the message says why. */
export class RequestError extends Error {
  override readonly name = "RequestError";
  readonly code: string;
  readonly hint: string;

  constructor(message: string, code = "", hint = "") {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

const TOKEN = "clobsim-sim-token";

/** Server of the page. */
export class Server {
  /** Prefix of every path: `/3` for the third exchange of a pool. */
  readonly prefix: string;

  constructor(prefix: string) {
    this.prefix = prefix;
  }

  /** Sends a JSON request and returns the parsed response. @throws RequestError */
  async ask(method: "GET" | "POST" | "DELETE", path: string, body?: object): Promise<unknown> {
    const response = await this.send(method, path, body);
    return response.json();
  }

  /** Sends a request and returns the response. @throws RequestError */
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
      throw new RequestError("the server does not respond", "UNREACHABLE");
    }
    if (response.ok) return response;
    const { error, code, hint } = (await response.json().catch(() => ({}))) as ErrorBody;
    throw new RequestError(error ?? `the server responded with ${response.status}`, code, hint);
  }

  /** Stores the token of the control plane while the tab is open. */
  set token(token: string) {
    sessionStorage.setItem(TOKEN, token);
  }
}
