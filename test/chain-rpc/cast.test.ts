import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { keyOf } from "../server/wallet.ts";
import { testWith } from "./anvil/foundry.ts";
import { ALICE, alice, bob, useChain } from "./viem-clients.ts";

const run = promisify(execFile);
const chain = await useChain();

function callChain(program: string): void {
  const key = keyOf(ALICE);

  /** Runs cast and returns the lines of its output. */
  async function cast(...args: readonly string[]): Promise<string[]> {
    const { stdout } = await run(program, [...args, "--rpc-url", `${chain.api.server.url}/chain`]);
    return stdout.trim().split("\n");
  }
  const balanceOf = (owner: string, ...at: readonly string[]) =>
    cast("call", chain.collateral.address, "balanceOf(address)(uint256)", owner, ...at);

  it("reads blocks, balances and views, as of past blocks too", async () => {
    const [height = ""] = await cast("block-number");
    expect(height).toBe(String(await chain.reader.getBlockNumber()));
    expect(await cast("chain-id")).toEqual(["31337"]);
    const before = await balanceOf(alice);
    await cast("rpc", "evm_setAutomine", "true");
    const transfer = [chain.collateral.address, "transfer(address,uint256)", bob, "5000000"];
    const sent = await cast("send", ...transfer, "--private-key", key, "--json");
    expect(JSON.parse(sent.join("\n"))).toMatchObject({ status: "0x1", from: alice.toLowerCase() });
    expect(await balanceOf(alice)).not.toEqual(before);
    expect(await balanceOf(alice, "--block", height)).toEqual(before);
    expect(await cast("nonce", alice)).toEqual(["1"]);
    expect(await cast("nonce", alice, "--block", height)).toEqual(["0"]);
    const [latest = ""] = await cast("block", "latest", "--field", "hash");
    expect(await cast("nonce", alice, "--block", latest)).toEqual(["1"]);
    expect(await cast("block-number", "pending")).toEqual([String(Number(height) + 2)]);
    expect((await cast("block", "finalized", "--field", "number"))[0]).toMatch(/^\d+$/);
    expect((await cast("code", chain.collateral.address))[0]).toMatch(/^0x\w+$/);
  });

  it("sends as a dev account, estimates, and finds logs", async () => {
    const [dev = ""] = chain.api.server.devAccounts.map(({ address }) => address);
    const sent = await cast("send", bob, "--value", "1", "--unlocked", "--from", dev, "--json");
    expect(JSON.parse(sent.join("\n"))).toMatchObject({ status: "0x1", from: dev.toLowerCase() });
    expect(await cast("estimate", bob, "--value", "1", "--from", dev)).toEqual(["21000"]);
    const logs = await cast("logs", "--from-block", "0", "Transfer(address,address,uint256)", "--json");
    expect(JSON.parse(logs.join("\n")).length).toBeGreaterThan(0);
    expect((await cast("tx-pool", "status")).join("\n")).toMatch(/pending/);
  });

  it("receives errors", async () => {
    await expect(balanceOf(alice, "--block", "99999")).rejects.toThrow("BlockOutOfRangeError");
    await expect(cast("rpc", "eth_nowhere")).rejects.toThrow("Method not found");
    const dear = ["send", bob, "--value", "1", "--gas-limit", "40000000", "--private-key", key];
    await expect(cast(...dear)).rejects.toThrow("intrinsic gas too high");
  });
}

describe("cast", () => testWith("cast", callChain));
