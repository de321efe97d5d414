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
    body: object | null = null,
    { headers = {}, signal = null }: { headers?: Record<string, string>; signal?: AbortSignal | null } = {},
  ): Promise<Response> {
    const token = sessionStorage.getItem(TOKEN);
    const response = await fetch(this.prefix + path, {
      ...{ method, signal, body: body === null ? null : JSON.stringify(body) },
      headers: {
        ...(body === null ? {} : { "content-type": "application/json" }),
        ...(token === null ? {} : { "x-sim-token": token }),
        ...headers,
      },
    }).catch(() => {
      throw new RequestError("the server does not respond", "UNREACHABLE");
    });
    if (response.ok) return response;
    // The fields are missing if the response is not from clobsim.
    const found: Partial<Record<"error" | "code" | "hint", string>> = await response.json().catch(() => ({}));
    const { error = `the server responded with ${response.status}`, code, hint } = found;
    throw new RequestError(error, code, hint);
  }

  /** Stores the token of the control plane while the tab is open. */
  set token(token: string) {
    sessionStorage.setItem(TOKEN, token);
  }
}
