import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { replyTo, requestBytes } from "../server/raw-socket.ts";
import { wallet } from "../server/wallet.ts";
import { useApi } from "../support/http.ts";
import { type Answer, answerOf, methodsOf, post, refusedAsRpc, resultOf, rpc } from "./rpc.ts";

const api = useApi({ settlement: "manual" });
const CHAIN_ID = rpc("eth_chainId");
const NOTIFICATION = { jsonrpc: "2.0", method: "eth_chainId" };

const head = async (): Promise<number> => Number(await resultOf(api, "eth_blockNumber"));

// Calls are compared with anvil's answers in anvil.test.ts; their errors stand in ../server/pages/chain.txt.
it("a body that is not in UTF-8 is refused", async () => {
  const { status, body } = await post(api, Buffer.from([0x22, 0xff, 0x22]));
  const error = { code: -32700, message: expect.stringMatching(/^Parse error: /) };
  expect([status, body]).toEqual([200, { jsonrpc: "2.0", id: null, error }]);
});

/** The methods that the specification requires. */
const REQUIRED =
  `eth_chainId net_version web3_clientVersion eth_blockNumber eth_getBlockByNumber eth_getBlockByHash
  eth_getTransactionByHash eth_getTransactionReceipt eth_getLogs eth_call eth_getBalance eth_getCode
  eth_getTransactionCount eth_gasPrice eth_feeHistory eth_maxPriorityFeePerGas eth_estimateGas eth_sendRawTransaction
  eth_newFilter eth_newBlockFilter eth_getFilterChanges eth_getFilterLogs eth_uninstallFilter evm_mine
  evm_increaseTime evm_setNextBlockTimestamp evm_snapshot evm_revert anvil_mine anvil_setBalance anvil_nodeInfo`.split(
    /\s+/,
  );

it("a method that is required exists and is listed", async () => {
  expect(await methodsOf(api)).toEqual(expect.arrayContaining(REQUIRED));
  for (const method of REQUIRED) expect((await answerOf(api, method)).error?.code, method).not.toBe(-32601);
});

it.each([
  ["eth_getblockbynumber", " Did you mean eth_getBlockByNumber?"],
  ["evm_increasetime", " Did you mean evm_increaseTime?"],
  ["eht_chainId", " Did you mean eth_chainId?"],
  ["anvil_setCode", " The chain has no EVM, so no code, storage or traces."],
  ["hardhat_setStorageAt", " The chain has no EVM, so no code, storage or traces."],
  ["debug_traceTransaction", " The chain has no EVM, so no code, storage or traces."],
  ["anvil_loadState", " clobsim serve --world opens a state, and --from continues a history."],
  ["anvil_setTime", ""],
  ["eth_nowhere", ""],
])(
  "an unknown method is named with the one that was meant, or why there is none: %s",
  async (method, help) => {
    const { error } = await answerOf(api, method);
    expect(error?.message).toBe(`Method not found: ${method}.${help} error.data.methods lists all methods`);
  },
);

it("a batch has at most 1000 calls; a larger one is not performed", async () => {
  const before = await head();
  const many = (count: number) => Array.from({ length: count }, (_, id) => rpc("evm_mine", [], id));
  const message = expect.stringMatching(/1 to 1000 calls, found 1001$/);
  expect((await post(api, many(1_001))).body).toMatchObject({ id: null, error: { code: -32600, message } });
  expect(await head()).toBe(before);
  expect((await post<Answer[]>(api, many(1_000))).body).toHaveLength(1_000);
  expect(await head()).toBe(before + 1_000);
});

it("evm_revert restores a filter of pending transactions, although the head is the same", async () => {
  const [dev] = await resultOf<string[]>(api, "eth_accounts");
  const send = () => resultOf<string>(api, "eth_sendTransaction", { from: dev, to: dev });
  const filter = await resultOf(api, "eth_newPendingTransactionFilter");
  const snapshot = await resultOf(api, "evm_snapshot");
  const first = await send();
  expect(await resultOf(api, "eth_getFilterChanges", filter)).toEqual([first]);
  await resultOf(api, "evm_revert", snapshot);
  const second = await send();
  expect(await resultOf(api, "eth_getFilterChanges", filter)).toEqual([second]);
});

describe("a request that fails as a whole is answered with a JSON-RPC error", () => {
  afterEach(() => api.send("DELETE /sim/faults"));

  const mining = { method: "POST", path: "/chain", body: rpc("evm_mine", [], "mine") } as const;
  const ofBytes = (bytes: number): string => JSON.stringify(CHAIN_ID).padEnd(bytes, " ");
  const MIB = 1024 * 1024;
  const TEXT = { "content-type": "text/plain" };

  it.each([
    [429, "RATE_LIMITED", -32005],
    [500, "INTERNAL_ERROR", -32603],
    [502, "UNAVAILABLE", -32603],
    [503, "UNAVAILABLE", -32603],
    [504, "UNAVAILABLE", -32603],
  ] as const)("if a fault answers %i", async (status, code, rpc) => {
    await api.post("/sim/faults", { route: "/chain", status });
    await refusedAsRpc(api, mining, { status, code, rpc, ids: "mine" });
  });

  it.each([
    ["a parameter is given twice", { path: "/chain?k=1&k=2" }, 400, "INVALID_PARAMETER", -32600, "mine"],
    ["its page is foreign", { headers: { origin: "null" } }, 403, "ORIGIN_NOT_ALLOWED", 4100, "mine"],
    ["it is larger than 1 MiB", { body: ofBytes(MIB + 1) }, 413, "PAYLOAD_TOO_LARGE", -32600, null],
    ["its content type is not that of JSON", { headers: TEXT }, 415, "UNSUPPORTED_MEDIA_TYPE", -32600, null],
  ] as const)("if %s", async (_reason, sent, status, code, rpc, ids) => {
    await refusedAsRpc(api, { ...mining, ...sent }, { status, code, rpc, ids });
  });

  it("if its host is not this machine", async () => {
    const { status, text } = await replyTo(api.port, requestBytes("POST /chain", ["Host: evil.example"]));
    const error = { code: 4100, data: { code: "HOST_NOT_ALLOWED", status: 403 } };
    expect([status, JSON.parse(text)]).toMatchObject([403, { jsonrpc: "2.0", id: null, error }]);
  });

  it("but not if it has 1 MiB, or is of a page of this machine, which may read the answer", async () => {
    const origin = "http://localhost:3000";
    const { body, headers } = await post(api, ofBytes(MIB), { origin });
    expect([body.result, headers["access-control-allow-origin"]]).toEqual(["0x7a69", origin]);
  });

  it.each<[ids: unknown, of: string, ...bodies: unknown[]]>([
    [[7, "b"], "calls with ids", [{ ...CHAIN_ID, id: 7 }, NOTIFICATION, { ...CHAIN_ID, id: "b" }]],
    [[null, null], "calls with invalid ids", [rpc("evm_mine", [], { no: "id" }), rpc("evm_mine", [], null)]],
    [null, "no call with an id", NOTIFICATION, [], [1], 7, "text", null],
  ])("with the ids %j if it has %s", async (ids, _of, ...bodies) => {
    await api.post("/sim/faults", { route: "/chain", status: 503 });
    for (const body of [...bodies.map((each) => JSON.stringify(each)), ...(ids === null ? ["{"] : [])]) {
      const failure = { status: 503, code: "UNAVAILABLE", rpc: -32603, ids };
      await refusedAsRpc(api, { ...mining, body }, failure);
    }
  });
});

describe("with a token of the control plane", () => {
  const TOKEN = "s3cret";
  const NO_TOKEN = { "x-sim-token": "" };
  const SENDER = wallet(7);
  const api = useApi({ simToken: TOKEN, settlement: "manual" });

  beforeAll(() => resultOf(api, "anvil_setBalance", SENDER.address, `0x${(10n ** 18n).toString(16)}`));

  it("only the methods that control the chain need it", async () => {
    const methods = await methodsOf(api);
    const guarded: string[] = [];
    for (const method of methods) {
      const { body } = await post(api, rpc(method), NO_TOKEN);
      if (body.error?.code === 4100) guarded.push(method);
    }
    const controlling = methods.filter((name) =>
      /^(evm|anvil|hardhat)_|^eth_send(Unsigned)?Transaction$|_sign/.test(name),
    );
    expect(guarded).toEqual(controlling);
    expect(controlling).toContain("evm_mine");
  });

  it("another token is refused with a hint, and the true one is accepted as a bearer token", async () => {
    const before = await api.stateHash();
    const { status, body } = await post(api, rpc("evm_mine"), { "x-sim-token": "s3cre" });
    const error = { code: 4100, message: expect.stringContaining("--sim-token") };
    expect([status, body]).toMatchObject([200, { error }]);
    expect(await api.stateHash()).toBe(before);
    const bearer = { ...NO_TOKEN, authorization: `Bearer ${TOKEN}` };
    expect((await post(api, rpc("evm_mine"), bearer)).body.result).toBe("0x0");
  });

  it("a call of a batch is refused alone", async () => {
    const { body } = await post<object>(api, [rpc("evm_mine"), rpc("eth_chainId", [], 2)], NO_TOKEN);
    expect(body).toMatchObject([{ error: { code: 4100 } }, { result: "0x7a69" }]);
  });

  it("signed transactions need no token", async () => {
    const fields = { chainId: 31_337, nonce: 0, gas: 21_000n, gasPrice: 2_000_000_000n };
    const raw = await SENDER.signTransaction({ type: "legacy", to: SENDER.address, ...fields });
    const { body } = await post(api, rpc("eth_sendRawTransaction", [raw]), NO_TOKEN);
    expect(body.result).toMatch(/^0x[0-9a-f]{64}$/);
    expect(await resultOf(api, "eth_getTransactionCount", SENDER.address, "pending")).toBe("0x1");
  });
});
