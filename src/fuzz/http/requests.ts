import { Buffer } from "node:buffer";
import { ENDPOINTS, type Operation } from "../../api/endpoints.ts";
import { authHeaders } from "../../client/connection.ts";
import type { SigningCredentials } from "../../client/messages.ts";
import type { SentRequest } from "./observation.ts";

/** What of a request its endpoint does not say. */
export interface RequestParts {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
}

const HOST = "127.0.0.1";

/** Writes a request to an endpoint; `signer` signs it at a moment, in Unix seconds. */
export function requestTo(
  operation: Operation,
  { path = {}, query = {}, body }: RequestParts = {},
  signer: { readonly credentials: SigningCredentials; readonly unixTime: number } | null = null,
): SentRequest {
  const endpoint = ENDPOINTS.find((each) => each.operation === operation);
  if (endpoint === undefined) throw new RangeError(`no endpoint ${operation}`);
  const { method } = endpoint;
  const route = endpoint.path.replace(/\{(\w+)\}/g, (_, name: string) => path[name] ?? "");
  const search = new URLSearchParams(query).toString();
  const target = search === "" ? route : `${route}?${search}`;
  const text = body === undefined ? "" : JSON.stringify(body);
  const headers = ["host", HOST];
  if (text !== "") headers.push("content-type", "application/json");
  if (text !== "" || method === "POST") headers.push("content-length", String(Buffer.byteLength(text)));
  if (signer !== null) {
    const signable = { method, target, body: text };
    headers.push(...authHeaders(signer.credentials, signable, signer.unixTime).flat());
  }
  return { operation, method, target, headers, body: text, path };
}
