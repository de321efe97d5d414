import { expect } from "vitest";
import type { Api, Headers, Reply } from "../support/http.ts";

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
