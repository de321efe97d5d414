import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { addFault, isHungUp } from "../server/faults.ts";
import { wallet } from "../server/wallet.ts";
import { useApi } from "../support/http.ts";
import { methodsOf, post, refusedAsRpc, resultOf, rpc } from "./rpc.ts";

describe("a page", () => {
  const api = useApi({ settlement: "manual" });

  it.each(["http://evil.example", "null", "http://localhost.evil.example"])(
    "of a foreign origin may not read the chain: %s",
    async (origin) => {
      const sent = { method: "POST", path: "/chain", headers: { origin }, body: rpc("eth_chainId") } as const;
      await refusedAsRpc(api, sent, { status: 403, code: "ORIGIN_NOT_ALLOWED", rpc: 4100 });
    },
  );

  it.each(["http://localhost:3000", "http://127.0.0.1:8080"])(
    "of this machine may use the chain and read the answer: %s",
    async (origin) => {
      const { body, headers } = await post(api, rpc("evm_mine"), { origin });
      expect([body.result, headers["access-control-allow-origin"]]).toEqual(["0x0", origin]);
    },
  );
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

  it.each(["", "s3cre", "S3CRET", "s3crett"])("another token is refused: %j", async (token) => {
    const before = await api.stateHash();
    const { status, body } = await post(api, rpc("evm_mine"), { "x-sim-token": token });
    expect([status, body.error?.code, body.error?.message]).toEqual([
      200,
      4100,
      expect.stringContaining("--sim-token"),
    ]);
    expect(await api.stateHash()).toBe(before);
  });

  it("it is accepted as a bearer token", async () => {
    const { body } = await post(api, rpc("evm_mine"), { ...NO_TOKEN, authorization: `Bearer ${TOKEN}` });
    expect(body.result).toBe("0x0");
  });

  it("a call of a batch is refused alone", async () => {
    const { body } = await post<object>(api, [rpc("evm_mine"), rpc("eth_chainId", [], 2)], NO_TOKEN);
    expect(body).toMatchObject([{ error: { code: 4100 } }, { result: "0x7a69" }]);
  });

  it("signed transactions need no token", async () => {
    const raw = await SENDER.signTransaction({
      ...{
        type: "legacy",
        chainId: 31_337,
        nonce: 0,
        to: SENDER.address,
        gas: 21_000n,
        gasPrice: 2_000_000_000n,
      },
    });
    const { body } = await post(api, rpc("eth_sendRawTransaction", [raw]), NO_TOKEN);
    expect(body.result).toMatch(/^0x[0-9a-f]{64}$/);
    const nonce = await resultOf(api, "eth_getTransactionCount", SENDER.address, "pending");
    expect(nonce).toBe("0x1");
  });
});

describe("a fault injected into HTTP", () => {
  const api = useApi({ settlement: "manual" });
  afterEach(() => api.send("DELETE /sim/faults"));

  const mining = { method: "POST", path: "/chain", body: rpc("evm_mine") } as const;
  const head = (): Promise<string> => resultOf(api, "eth_blockNumber");

  it.each(["POST /chain", "/chain", "*"])(
    "applies to the chain by the route %s, and nothing is mined",
    async (route) => {
      await addFault(api, { route, status: 503, times: 1 });
      await refusedAsRpc(api, mining, { status: 503, code: "UNAVAILABLE", rpc: -32603 });
      expect((await api.send(mining)).status).toBe(200);
    },
  );

  it("that drops the connection prevents the call", async () => {
    const before = await head();
    await addFault(api, { route: "POST /chain", drop: "connection", times: 1 });
    expect(await isHungUp(api.send(mining))).toBe(true);
    expect(await head()).toBe(before);
  });

  it("that drops the reply is applied after the call was performed", async () => {
    const before = Number(await head());
    await addFault(api, { route: "POST /chain", drop: "reply", times: 1 });
    expect(await isHungUp(api.send(mining))).toBe(true);
    expect(Number(await head())).toBe(before + 1);
  });
});
