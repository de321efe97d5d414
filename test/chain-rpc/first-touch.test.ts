import { beforeEach, describe, expect, it } from "vitest";
import type { Log } from "../../src/chain-rpc/abis.ts";
import { CONTRACTS } from "../../src/core/chain/contracts.ts";
import type { Account, Invariants } from "../server/replies.ts";
import { deriveTrader, type Trader } from "../server/trader.ts";
import { useApi } from "../support/http.ts";
import { ChainWallet, read } from "./chain-wallet.ts";
import { decoded } from "./properties/sums.ts";
import { resultOf } from "./rpc.ts";

/** Units of a share on the chain. */
const SHARE = 1_000_000;

const api = useApi({ settlement: "manual" });
let keys = 3_000;
let yes: string;
let sender: ChainWallet;
let trader: Trader;

beforeEach(async () => {
  const market = await api.createMarket();
  yes = market.tokens[0]?.tokenId ?? "";
  keys += 2;
  sender = await ChainWallet.open(api, keys, market);
  trader = await deriveTrader(api, keys + 1);
});

const fund = (shares: number): Promise<Account> =>
  api.post<Account>(`/sim/accounts/${trader.address}/fund`, { tokens: { [yes]: shares } });

const ownIn = ({ tokens }: Account): Record<string, number> => {
  const own = tokens.find(({ tokenId }) => tokenId === yes);
  return { balance: Number(own?.balance), available: Number(own?.available), onChain: Number(own?.onChain) };
};

/** Reads the trader's YES balance from every source, in shares. */
async function everySource(): Promise<Record<string, number>> {
  await resultOf(api, "evm_mine");
  const account = await api.get<Account>(`/sim/accounts/${trader.address}`);
  const balanceOf = await read(api, "conditionalTokens", "balanceOf", [trader.address, BigInt(yes)]);
  const where = { address: CONTRACTS.conditionalTokens, fromBlock: "0x0", toBlock: "latest" };
  let units = 0n;
  for (const log of await resultOf<Log[]>(api, "eth_getLogs", where)) {
    const { name, args } = decoded(log);
    if (!name.startsWith("Transfer")) continue;
    const ids = (name === "TransferBatch" ? args.ids : [args.id]) as bigint[];
    const values = (name === "TransferBatch" ? args.values : [args.value]) as bigint[];
    for (const [index, id] of ids.entries()) {
      if (id !== BigInt(yes)) continue;
      if (String(args.to).toLowerCase() === trader.address.toLowerCase()) units += values[index] ?? 0n;
      if (String(args.from).toLowerCase() === trader.address.toLowerCase()) units -= values[index] ?? 0n;
    }
  }
  expect(await api.get<Invariants>("/sim/invariants")).toMatchObject({ hold: true });
  return { ...ownIn(account), balanceOf: Number(balanceOf) / SHARE, logs: Number(units) / SHARE };
}

const allSay = (shares: number) => ({
  balance: shares,
  available: shares,
  onChain: shares,
  balanceOf: shares,
  logs: shares,
});

const sellAll = (size: number) => trader.place({ tokenId: yes, side: "SELL", price: 0.5, size });

describe("account, balanceOf and Transfer logs agree, and the whole balance can be sold, after an account first touches a market", () => {
  it("by funding, whose answer already has the balance", async () => {
    expect(ownIn(await fund(7))).toEqual({ balance: 10_007, available: 10_007, onChain: 10_007 });
    expect(await everySource()).toEqual(allSay(10_007));
    expect(await sellAll(10_007)).toMatchObject({ status: "LIVE" });
  });

  it("by an ERC-1155 transfer that brings shares", async () => {
    const args = [sender.address, trader.address, BigInt(yes), BigInt(5 * SHARE), "0x"];
    await sender.send("conditionalTokens", "safeTransferFrom", args);
    expect(await everySource()).toEqual(allSay(10_005));
    expect(await sellAll(10_005)).toMatchObject({ status: "LIVE" });
  });

  it("by an order", async () => {
    await sellAll(1);
    expect(await everySource()).toEqual({ ...allSay(10_000), available: 9_999 });
  });

  it("that came before the wallet's first derivation", async () => {
    keys += 2;
    const { address } = await ChainWallet.open(api, keys);
    const args = [sender.address, address, BigInt(yes), BigInt(5 * SHARE), "0x"];
    await sender.send("conditionalTokens", "safeTransferFrom", args);
    await resultOf(api, "evm_mine");
    trader = await deriveTrader(api, keys);
    expect(await everySource()).toEqual(allSay(10_005));
  });
});
