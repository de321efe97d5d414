import { beforeAll, describe, expect, it } from "vitest";
import { wallet } from "../server/wallet.ts";
import { useApi } from "../support/http.ts";
import { methodsOf, post, resultOf, rpc } from "./rpc.ts";

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
