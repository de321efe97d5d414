import { expect } from "vitest";
import type { Api, Headers, Reply, Request } from "../support/http.ts";

/** A JSON-RPC response: a result or an error. */
export interface Answer {
  readonly jsonrpc: "2.0";
  readonly id: string | number | null;
  readonly result?: unknown;
  readonly error?: Failure;
}

export interface Failure {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** Builds one call. */
export const rpc = (method: string, params: readonly unknown[] = [], id: unknown = 1): object => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});

/** Posts any body. The reply is checked against the OpenAPI document. */
export const post = <Body = Answer>(
  api: Api,
  body: string | Buffer | object,
  headers: Headers = {},
): Promise<Reply<Body>> => api.send<Body>({ method: "POST", path: "/chain", body, headers });

/** Performs one call and returns its answer, which must have status 200. */
export async function answerOf(api: Api, method: string, ...params: readonly unknown[]): Promise<Answer> {
  const { status, body } = await post(api, rpc(method, params));
  expect(status).toBe(200);
  return body;
}

/** Returns the result of a call. @throws Error with the message of its error */
export function resultIn<Result>(method: string, { error, result }: Answer): Result {
  if (error !== undefined) throw new Error(`${method}: ${error.message}`);
  return result as Result;
}

/** Performs one call, which must succeed, and returns its result. */
export const resultOf = async <Result>(
  api: Api,
  method: string,
  ...params: readonly unknown[]
): Promise<Result> => resultIn(method, await answerOf(api, method, ...params));

/** Performs one call, which must fail, and returns its error. */
export async function failureOf(api: Api, method: string, ...params: readonly unknown[]): Promise<Failure> {
  const { error, result } = await answerOf(api, method, ...params);
  expect(result, method).toBeUndefined();
  return error as Failure;
}

/** Returns the names of all methods. */
export async function methodsOf(api: Api): Promise<readonly string[]> {
  const { data } = await failureOf(api, "eth_nowhere");
  return (data as { readonly methods: readonly string[] }).methods;
}

/** Failure of a whole request: HTTP status, the API's error code, the JSON-RPC code, and the ids of the answers. */
export interface WholeFailure {
  readonly status: number;
  readonly code: string;
  readonly rpc: number;
  /** Default: the id 1 of one call. */
  readonly ids?: unknown;
}

/** Sends a request that must fail as a whole with JSON-RPC errors and without changing the state. */
export async function refusedAsRpc(
  api: Api,
  sent: Request,
  { status, code, rpc, ids = 1 }: WholeFailure,
): Promise<Reply<unknown>> {
  const before = await api.stateHash();
  const reply = await api.send<unknown>(sent);
  const requestId = reply.headers["x-request-id"];
  const data = expect.objectContaining({ code, status, requestId });
  const failure = (id: unknown): object => ({
    jsonrpc: "2.0",
    id,
    error: { code: rpc, message: expect.stringMatching(/\S/), data },
  });
  expect(reply.status).toBe(status);
  expect(reply.body).toEqual(Array.isArray(ids) ? ids.map(failure) : failure(ids));
  expect(await api.stateHash()).toBe(before);
  return reply;
}
