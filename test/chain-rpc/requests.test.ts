import { describe, expect, it } from "vitest";
import { useApi } from "../support/http.ts";
import { type Answer, failureOf, post, refusedAsRpc, resultOf, rpc } from "./rpc.ts";

const api = useApi({ settlement: "manual" });

const failure = (code: number, message: RegExp, id: unknown = null): object => ({
  jsonrpc: "2.0",
  id,
  error: { code, message: expect.stringMatching(message) },
});
const head = (): Promise<string> => resultOf<string>(api, "eth_blockNumber");

describe("a body that is not a call", () => {
  it.each([
    ["is empty", ""],
    ["is cut short", '{"jsonrpc":"2.0"'],
    ["has a comma too many", '{"jsonrpc":"2.0","id":1,"method":"eth_chainId",}'],
    ["is not in UTF-8", Buffer.from([0x22, 0xff, 0x22])],
  ])("is a parse error when it %s", async (_how, body) => {
    const reply = await post(api, body);
    expect([reply.status, reply.body]).toEqual([200, failure(-32700, /^Parse error: /)]);
  });

  it.each(["7", "null", "true", '"eth_chainId"'])("is an invalid request when it is %s", async (body) => {
    expect((await post(api, body)).body).toEqual(failure(-32600, /a call is an object$/));
  });

  it.each([
    ["no version", { id: 1, method: "eth_chainId" }, /expected "jsonrpc":"2.0"/],
    ["another version", { ...rpc("eth_chainId"), jsonrpc: "1.0" }, /expected "jsonrpc":"2.0"/],
    ["no method", { jsonrpc: "2.0", id: 1 }, /a method is a string/],
    ["a method that is not a string", { jsonrpc: "2.0", id: 1, method: 7 }, /a method is a string/],
    ["params that are a string", { ...rpc("eth_chainId"), params: "0x1" }, /params are an array/],
  ])("is an invalid request when it has %s, and keeps its id", async (_case, body, message) => {
    expect((await post(api, body)).body).toEqual(failure(-32600, message, 1));
  });

  it.each([1.5, true, {}, [], 2 ** 53])("is answered with the id null when its id is %j", async (id) => {
    expect((await post(api, rpc("eth_chainId", [], id))).body).toEqual(failure(-32600, /an id is a string/));
  });

  it("with parameters by name is told to send an array", async () => {
    const body = { ...rpc("eth_getBalance"), params: { address: "0x", block: "latest" } };
    expect((await post(api, body)).body).toEqual(failure(-32602, /send them as an array$/, 1));
  });
});

describe("a call", () => {
  it.each([0, 1, -7, "a", "", null, Number.MAX_SAFE_INTEGER])("is answered with its id %j", async (id) => {
    expect((await post(api, rpc("eth_chainId", [], id))).body).toEqual({
      jsonrpc: "2.0",
      id,
      result: "0x7a69",
    });
  });

  it.each([undefined, null, []])("may omit parameters if its method has none: %j", async (params) => {
    const body = { jsonrpc: "2.0", id: 1, method: "eth_chainId", params };
    expect((await post(api, body)).body.result).toBe("0x7a69");
  });

  it("that fails has status 200 and says what was expected and what was found", async () => {
    const { code, message } = await failureOf(api, "eth_getBalance", "0x1234", "latest");
    expect(code).toBe(-32602);
    expect(message).toBe('address: expected an address of 20 bytes, found the string "0x1234"');
  });

  it("without an id is performed and not answered", async () => {
    const before = await head();
    const { status, text } = await post(api, { jsonrpc: "2.0", method: "evm_mine", params: [] });
    expect([status, text]).toEqual([204, ""]);
    expect(Number(await head())).toBe(Number(before) + 1);
  });

  it("without an id that fails is not answered", async () => {
    expect((await post(api, { jsonrpc: "2.0", method: "eth_nowhere" })).status).toBe(204);
  });
});

describe("a batch", () => {
  it("is answered in its order, each call with its own id", async () => {
    const calls = [rpc("net_version", [], "b"), rpc("eth_nowhere", [], 2), rpc("eth_chainId", [], "a")];
    const { body } = await post<Answer[]>(api, calls);
    expect(body.map(({ id, error, result }) => [id, error?.code ?? result])).toEqual([
      ["b", "31337"],
      [2, -32601],
      ["a", "0x7a69"],
    ]);
  });

  it("is performed in its order, one call at a time", async () => {
    const before = Number(await head());
    const calls = [rpc("eth_blockNumber"), rpc("evm_mine"), rpc("evm_mine"), rpc("eth_blockNumber")];
    const { body } = await post<Answer[]>(api, calls);
    expect(body.map(({ result }) => Number(result))).toEqual([before, 0, 0, before + 2]);
  });

  it("has no answer to its notifications", async () => {
    const notification = { jsonrpc: "2.0", method: "eth_chainId" };
    const { body } = await post<Answer[]>(api, [notification, rpc("eth_chainId", [], 5), notification]);
    expect(body.map(({ id }) => id)).toEqual([5]);
  });

  it("of notifications only has no answer", async () => {
    const { status, text } = await post(api, [{ jsonrpc: "2.0", method: "eth_chainId" }]);
    expect([status, text]).toEqual([204, ""]);
  });

  it("continues after an item that is not a call", async () => {
    const { body } = await post<Answer[]>(api, [1, [], rpc("eth_chainId")]);
    expect(body.map(({ id, error }) => [id, error?.code])).toEqual([
      [null, -32600],
      [null, -32600],
      [1, undefined],
    ]);
  });

  it("has at least one call", async () => {
    expect((await post(api, [])).body).toEqual(failure(-32600, /a batch has 1 to 1000 calls, found 0$/));
  });

  it("has at most 1000 calls; a larger one is not performed", async () => {
    const before = await head();
    const many = (count: number) => Array.from({ length: count }, (_, id) => rpc("evm_mine", [], id));
    expect((await post(api, many(1_001))).body).toEqual(failure(-32600, /1 to 1000 calls, found 1001$/));
    expect(await head()).toBe(before);
    expect((await post<Answer[]>(api, many(1_000))).body).toHaveLength(1_000);
    expect(Number(await head())).toBe(Number(before) + 1_000);
  });
});

describe("a request body", () => {
  const ofBytes = (bytes: number): string => JSON.stringify(rpc("eth_chainId")).padEnd(bytes, " ");

  it("may have 1 MiB", async () => {
    expect((await post(api, ofBytes(1024 * 1024))).body.result).toBe("0x7a69");
  });

  it("may not have one byte more", async () => {
    const sent = { method: "POST", path: "/chain", body: ofBytes(1024 * 1024 + 1) } as const;
    await refusedAsRpc(api, sent, { status: 413, code: "PAYLOAD_TOO_LARGE", rpc: -32600, ids: null });
  });

  it("must have the content type of JSON", async () => {
    const headers = { "content-type": "text/plain" };
    const sent = { method: "POST", path: "/chain", headers, body: ofBytes(100) } as const;
    await refusedAsRpc(api, sent, { status: 415, code: "UNSUPPORTED_MEDIA_TYPE", rpc: -32600, ids: null });
  });
});
