import { expect } from "vitest";
import type { Api, Headers, Reply, Request } from "../support/http.ts";

/** One answer of JSON-RPC: a result or an error. */
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

/** One call as a client writes it. */
export const rpc = (method: string, params: readonly unknown[] = [], id: unknown = 1): object => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});

/** What comes back for any body; the reply is checked against the document. */
export const post = <Body = Answer>(
  api: Api,
  body: string | Buffer | object,
  headers: Headers = {},
): Promise<Reply<Body>> => api.send<Body>({ method: "POST", path: "/chain", body, headers });

/** The answer to one call, which is a 200 whatever it says. */
export async function answerOf(api: Api, method: string, ...params: readonly unknown[]): Promise<Answer> {
  const { status, body } = await post(api, rpc(method, params));
  expect(status).toBe(200);
  return body;
}

/** The result of one call that succeeds. */
export async function resultOf<Result>(
  api: Api,
  method: string,
  ...params: readonly unknown[]
): Promise<Result> {
  const { error, result } = await answerOf(api, method, ...params);
  expect(error, method).toBeUndefined();
  return result as Result;
}

/** The error of one call that fails. */
export async function failureOf(api: Api, method: string, ...params: readonly unknown[]): Promise<Failure> {
  const { error, result } = await answerOf(api, method, ...params);
  expect(result, method).toBeUndefined();
  return error as Failure;
}

/** The methods that there are. */
export async function modelledIn(api: Api): Promise<readonly string[]> {
  const { data } = await failureOf(api, "eth_nowhere");
  return (data as { readonly methods: readonly string[] }).methods;
}

/** A request that fails as a whole: its HTTP status, the API's code, the code of JSON-RPC, and the ids it answers to. */
export interface WholeFailure {
  readonly status: number;
  readonly code: string;
  readonly rpc: number;
  /** Default: those of one call with the id 1. */
  readonly ids?: unknown;
}

/** The reply to what fails as a whole, is answered with errors of JSON-RPC, and leaves no trace. */
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
