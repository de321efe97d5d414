import { describe, expect, it } from "vitest";
import { useApi } from "../support/http.ts";
import { answerOf, failureOf, methodsOf } from "./rpc.ts";

/** The methods that the specification requires. */
const REQUIRED =
  `eth_chainId net_version web3_clientVersion eth_blockNumber eth_getBlockByNumber eth_getBlockByHash
  eth_getTransactionByHash eth_getTransactionReceipt eth_getLogs eth_call eth_getBalance eth_getCode
  eth_getTransactionCount eth_gasPrice eth_feeHistory eth_maxPriorityFeePerGas eth_estimateGas eth_sendRawTransaction
  eth_newFilter eth_newBlockFilter eth_getFilterChanges eth_getFilterLogs eth_uninstallFilter evm_mine
  evm_increaseTime evm_setNextBlockTimestamp evm_snapshot evm_revert anvil_mine anvil_setBalance anvil_nodeInfo`.split(
    /\s+/,
  );

const api = useApi({ settlement: "manual" });

describe("a method", () => {
  it.each(REQUIRED)("that is required exists and is listed: %s", async (method) => {
    expect((await answerOf(api, method)).error?.code).not.toBe(-32601);
    expect(await methodsOf(api)).toContain(method);
  });

  it.each(["eth_getLog", "ETH_CHAINID", "eth_chainId ", "toString", "__proto__", "constructor", ""])(
    "that is unknown is answered with a list of all methods: %j",
    async (method) => {
      const { code, message, data } = await failureOf(api, method);
      expect(code).toBe(-32601);
      expect(message).toMatch(/^Method not found: .*error\.data\.methods lists all methods$/);
      expect(data).toEqual({ methods: expect.arrayContaining(["eth_chainId", "net_version"]) });
    },
  );

  it("with a similar name is suggested", async () => {
    expect((await failureOf(api, "eth_getLog")).message).toContain("Did you mean eth_getLogs?");
  });

  it("with a long name is not repeated in full", async () => {
    const name = "x".repeat(10_000);
    expect((await failureOf(api, name)).message).not.toContain(name.slice(0, 100));
  });

  it("with a wrong number of parameters says how many it takes", async () => {
    expect(await failureOf(api, "eth_getBalance")).toEqual({
      code: -32602,
      message: "eth_getBalance takes 2 parameters, found 0",
    });
    expect(await failureOf(api, "eth_call", {}, "latest", {}, {}, {})).toEqual({
      code: -32602,
      message: "eth_call takes 1 to 4 parameters, found 5",
    });
  });
});
