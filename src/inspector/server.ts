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

/** Stores the token of the control plane while the tab is open. */
export const storeToken = (token: string): void => sessionStorage.setItem(TOKEN, token);

type Method = "GET" | "POST" | "DELETE";

export type Server = ReturnType<typeof serverAt>;

/** Returns the server of the page. `prefix` begins every path: `/3` for the third exchange of a pool. */
export function serverAt(prefix: string) {
  /** Sends a request and returns the response. @throws RequestError */
  const send = async (
    method: Method,
    path: string,
    body: object | null = null,
    { headers = {}, signal = null }: { headers?: Record<string, string>; signal?: AbortSignal | null } = {},
  ): Promise<Response> => {
    const token = sessionStorage.getItem(TOKEN);
    const response = await fetch(prefix + path, {
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
  };
  /** Sends a JSON request and returns the parsed response. @throws RequestError */
  const ask = async (method: Method, path: string, body?: object): Promise<unknown> =>
    (await send(method, path, body)).json();
  return { prefix, send, ask };
}
