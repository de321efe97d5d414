import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { CONTRACTS } from "../../src/core/chain/contracts.ts";
import { useApi } from "../support/http.ts";
import { runs } from "../support/runs.ts";
import { type Answer, methodsOf, post } from "./rpc.ts";

const api = useApi({ settlement: "manual" });
let methods: readonly string[];

beforeAll(async () => {
  methods = await methodsOf(api);
  expect(methods.length).toBeGreaterThan(30);
});

const ADDRESSES = [...Object.values(CONTRACTS), `0x${"0".repeat(40)}`, `0x${"Ab".repeat(20)}`];
const TAGS = ["latest", "pending", "earliest", "safe", "finalized", "LATEST"];
const LONG = [`0x${"f".repeat(64)}`, `0x1${"0".repeat(64)}`];
const QUANTITIES = ["0x0", "0x1", "0x01", "0x", ...LONG, -1, 0.5, 1e21, 2 ** 53];
/** Almost valid values. Numbers are small, because mining ten thousand blocks is slow. */
const nearly = fc.oneof(
  fc.constantFrom<unknown>(...ADDRESSES, ...TAGS, ...QUANTITIES, true, null),
  fc.nat({ max: 20 }).map((number) => `0x${number.toString(16)}`),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => `0x${Buffer.from(bytes).toString("hex")}`),
);
const NAMES =
  `from to data input value nonce gas gasPrice maxFeePerGas maxPriorityFeePerGas chainId type accessList
  fromBlock toBlock blockHash blockNumber address topics blocks timestamp`.split(/\s+/);
const object = fc.dictionary(
  fc.constantFrom(...NAMES),
  fc.oneof(
    nearly,
    fc.array(nearly, { maxLength: 5 }),
    fc.array(fc.array(nearly, { maxLength: 3 }), { maxLength: 5 }),
  ),
  { maxKeys: 6 },
);
const parameter = fc.oneof(nearly, object, fc.jsonValue({ maxDepth: 3 }));
const call = fc.record({
  jsonrpc: fc.constant("2.0"),
  id: fc.constantFrom<unknown>(1, "a", null),
  method: fc.nat().map((number) => methods[number % methods.length] as string),
  params: fc.array(parameter, { maxLength: 4 }),
});

function checkAnswer(answer: Answer): void {
  expect(answer.jsonrpc).toBe("2.0");
  expect(Object.hasOwn(answer, "id")).toBe(true);
  expect(Object.hasOwn(answer, "result")).toBe(!Object.hasOwn(answer, "error"));
  if (answer.error === undefined) return;
  expect(Number.isInteger(answer.error.code)).toBe(true);
  expect(answer.error.message).toMatch(/\S/);
}

/** Posts a body and checks its answers, which it returns; each reply is also checked against the OpenAPI document. */
async function answersTo(body: unknown): Promise<unknown> {
  const { status, text, body: reply } = await post<unknown>(api, JSON.stringify(body));
  expect([200, 204], text).toContain(status);
  if (status === 204) expect(text).toBe("");
  else for (const answer of Array.isArray(reply) ? reply : [reply]) checkAnswer(answer as Answer);
  return reply;
}

describe("no request is an internal error, and every answer follows JSON-RPC 2.0:", () => {
  it("any JSON, and any call with any fields", async () => {
    const field = fc.jsonValue({ maxDepth: 2 });
    const any = fc.record(
      { jsonrpc: fc.oneof(fc.constant("2.0"), field), id: field, method: field, params: field },
      { requiredKeys: [] },
    );
    const check = async (body: unknown): Promise<void> => void (await answersTo(body));
    await fc.assert(fc.asyncProperty(fc.oneof(fc.jsonValue(), any), check), runs(600));
  });

  it("any batch of methods with almost valid parameters, with an answer for each call", async () => {
    const check = async (batch: readonly unknown[]): Promise<void> => {
      expect(await answersTo(batch)).toHaveLength(batch.length);
    };
    await fc.assert(fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 8 }), check), runs(400));
  });
});
