import { type ContractEventPayload, type EventLog, Transaction, Wallet } from "ethers";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { ATTESTATION, CLOB_AUTH_TYPES } from "../../src/api/wallet-signature.ts";
import { Collected } from "./collected.ts";
import { openEthers } from "./ethers-clients.ts";
import { ONE } from "./viem-clients.ts";

describe.each(["HTTP", "a WebSocket"] as const)("with %s", async (transport) => {
  const chain = await openEthers(transport);
  const { provider, collateral } = chain;
  const [alice, bob] = [chain.alice.address, chain.bob.address];
  afterAll(() => chain.close());
  beforeEach(() => chain.mine(3));

  const usdcOf = (owner: string) => collateral.balanceOf(owner);

  describe("a wallet", () => {
    it.each([
      ["EIP-1559", 2],
      ["EIP-2930", 1],
      ["legacy", 0],
    ])("sends %s transactions and waits for their receipts", async (_name, type) => {
      const before = await provider.getBalance(bob);
      const sent = await chain.alice.sendTransaction({ to: bob, value: 5n, type });
      const receipt = await chain.mining(sent.wait());
      expect(receipt).toMatchObject({ status: 1, type, hash: sent.hash, from: alice, to: bob });
      expect(await provider.getBalance(bob)).toBe(before + 5n);
      expect(await provider.getTransaction(sent.hash)).toMatchObject({ type, nonce: sent.nonce, value: 5n });
    });
  });

  describe("the node's own signer", () => {
    it("makes the signature from which API keys are derived", async () => {
      const signer = await provider.getSigner(1);
      const timestamp = String((await chain.api.get<{ time: number }>("/clob/time")).time);
      const domain = { name: "ClobAuthDomain", version: "1", chainId: 137 };
      const types = { ClobAuth: CLOB_AUTH_TYPES.ClobAuth.map((field) => ({ ...field })) };
      const message = { address: signer.address, timestamp, nonce: 0n, message: ATTESTATION };
      const signature = await signer.signTypedData(domain, types, message);
      const own = new Wallet(chain.api.server.devAccounts[1]?.privateKey ?? "");
      expect(signature).toBe(await own.signTypedData(domain, types, message));
      const keys = await chain.api.post<{ apiKey: string }>("/clob/auth/derive-api-key", {
        ...{ address: signer.address, signature, timestamp, nonce: 0 },
      });
      expect(keys.apiKey).toMatch(/\S/);
    });

    it("signs messages and transactions as the account's own key would", async () => {
      const signer = await provider.getSigner(2);
      const own = new Wallet(chain.api.server.devAccounts[2]?.privateKey ?? "", provider);
      expect(await signer.signMessage("hello")).toBe(await own.signMessage("hello"));
      expect(await signer._legacySignMessage("hello")).toBe(await own.signMessage("hello"));
      const sent = { from: signer.address, to: bob, value: "0x1", gas: "0x5208", nonce: "0x0" };
      const sign = (fields: object) => provider.send("eth_signTransaction", [{ ...sent, ...fields }]);
      const gasPrice = "0x77359400";
      const types = [{}, { gasPrice }, { type: "0x0" }, { type: "0x1" }, { type: "0x2", gasPrice }].map(
        async (fields) => Transaction.from(await sign(fields)).type,
      );
      expect(await Promise.all(types)).toEqual([2, 0, 0, 1, 2]);
      const accessList = [{ address: bob, storageKeys: [] }];
      await expect(sign({ accessList })).rejects.toThrow("transaction.accessList is not signed");
      const raw = await sign({});
      const response = await provider.broadcastTransaction(raw);
      expect(await chain.mining(response.wait())).toMatchObject({ status: 1, from: signer.address });
    });

    it("signs neither for other accounts nor invalid typed data", async () => {
      await expect(provider.send("personal_sign", ["0x12", alice])).rejects.toThrow("No Signer available");
      const address = (await provider.getSigner(1)).address;
      const invalid = { domain: {}, types: {}, primaryType: "Nothing", message: {} };
      for (const data of ["no JSON", "7", invalid])
        await expect(provider.send("eth_signTypedData_v4", [address, data])).rejects.toThrow("typed data");
    });
  });

  describe("a contract", () => {
    it("is read and written to, and its receipt has events", async () => {
      expect([await collateral.name(), await collateral.decimals()]).toEqual(["USD Coin", 6n]);
      const before = await usdcOf(bob);
      const receipt = await chain.mining((await chain.pay(7n)).wait());
      expect(await usdcOf(bob)).toBe(before + 7n * ONE);
      const [log] = (receipt?.logs ?? []) as EventLog[];
      expect([log?.eventName, log?.args.toArray()]).toEqual(["Transfer", [alice, bob, 7n * ONE]]);
    });

    it("reverts with a reason before it is sent", async () => {
      const amount = 10n ** 15n;
      await expect(collateral.transfer(bob, amount)).rejects.toMatchObject({
        ...{ code: "CALL_EXCEPTION", reason: "ERC20: transfer amount exceeds balance" },
      });
    });
  });

  describe("a listener", () => {
    it("receives pending transactions until it is removed", async () => {
      const hashes = new Collected<string>();
      const listen = (hash: string): void => hashes.add(hash);
      await chain.listening(() => provider.on("pending", listen));
      const { hash } = await chain.pay(1n);
      await chain.mine();
      expect(await hashes.count(1)).toEqual([hash]);
      await chain.until(chain.isTold ? "eth_unsubscribe" : "eth_uninstallFilter", () =>
        provider.off("pending", listen),
      );
      await chain.pay(2n);
      await chain.mine();
      expect(await hashes.count(1)).toEqual([hash]);
    });

    it("receives the events of a contract as they are mined, and a query finds the same", async () => {
      const filter = collateral.getEvent("Transfer")(alice, bob);
      const from = (await provider.getBlockNumber()) + 1;
      const received = new Collected<bigint>();
      const listen = ({ args }: ContractEventPayload): void => received.add(args.value as bigint);
      await chain.listening(() => collateral.on(filter, listen));
      for (const usdc of [1n, 2n]) await chain.pay(usdc);
      await chain.mine();
      await received.count(2);
      await chain.pay(3n);
      await chain.mine();
      const values = await received.count(3);
      expect(values).toEqual([ONE, 2n * ONE, 3n * ONE]);
      await collateral.removeAllListeners();
      const found = (await collateral.queryFilter(filter, from)) as EventLog[];
      expect(found.map(({ args }) => args.value as bigint)).toEqual(values);
    });
  });
});
