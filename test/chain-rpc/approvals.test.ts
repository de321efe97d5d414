import { maxUint256 } from "viem";
import { describe, expect, it } from "vitest";
import type { Trade } from "../../src/client/api-messages.ts";
import { orThrow } from "../../src/client/result.ts";
import { tradeStatus } from "../../src/core/chain/settlement.ts";
import { violations } from "../../src/core/invariants.ts";
import { readDocument } from "../../src/core/rebuild-state.ts";
import { documentLines } from "../../src/core/state-document.ts";
import { Exchange } from "../../src/engine/exchange.ts";
import { generateWorld } from "../../src/simulation/generate-world.ts";
import { openWorld } from "../../src/simulation/opening.ts";
import { openTrader } from "../client/open.ts";
import { ARENA } from "../core/properties/moves.ts";
import { wallet } from "../server/wallet.ts";
import { START } from "../support/exchange.ts";
import { ALICE, BOB, useChain, type ViemChain } from "./viem-clients.ts";

const granted = await useChain({ approvals: "granted" });
const required = await useChain({ approvals: "required" });

/** Reads the permissions that an address has given to the exchange. */
const permissions = ({ reader, collateral, tokens, exchange }: ViemChain, owner: `0x${string}`) =>
  Promise.all([
    reader.readContract({ ...collateral, functionName: "allowance", args: [owner, exchange.address] }),
    reader.readContract({ ...collateral, functionName: "allowance", args: [owner, tokens.address] }),
    reader.readContract({ ...tokens, functionName: "isApprovedForAll", args: [owner, exchange.address] }),
  ]);

/** Makes a trade of Alice and Bob, mines a block, and returns the trade. */
async function traded(chain: ViemChain): Promise<Trade | undefined> {
  const market = await chain.market();
  const [alice, bob] = await Promise.all([openTrader(chain.api, ALICE), openTrader(chain.api, BOB)]);
  orThrow(await alice.place({ tokenId: market.yes, side: "BUY", price: 0.5, size: 10 }));
  orThrow(await bob.place({ tokenId: market.yes, side: "SELL", price: 0.5, size: 10 }));
  await chain.node.mine({ blocks: 1 });
  return orThrow(await alice.trades({ tokenId: market.yes })).data[0];
}

it("approvals that are granted exist for wallets that the exchange knows, and for no others", async () => {
  expect(await permissions(granted, granted.alice.account.address)).toEqual([maxUint256, maxUint256, true]);
  expect(await permissions(granted, wallet(99).address)).toEqual([0n, 0n, false]);
  expect((await traded(granted))?.status).toBe("MINED");
});

describe("approvals that are required", () => {
  it("must be given by each wallet; until then its trades fail", async () => {
    const { exchange, collateral, tokens, alice, bob } = required;
    expect(await permissions(required, alice.account.address)).toEqual([0n, 0n, false]);
    expect(await traded(required)).toMatchObject({ status: "FAILED" });
    const approve = { ...collateral, functionName: "approve", args: [exchange.address, maxUint256] } as const;
    await required.mined(await alice.writeContract(approve));
    expect(await traded(required)).toMatchObject({ status: "FAILED" });
    const all = { ...tokens, functionName: "setApprovalForAll", args: [exchange.address, true] } as const;
    await required.mined(await bob.writeContract(all));
    expect(await traded(required)).toMatchObject({ status: "MINED" });
    expect(await permissions(required, alice.account.address)).toEqual([maxUint256, 0n, false]);
  });

  it.each(["instant", "auto", "manual"] as const)(
    "are given by the traders of a world when it opens, with settlement %s",
    async (settlement) => {
      const exchange = new Exchange({ ...ARENA, settlement, approvals: "required" }, START);
      openWorld(exchange, await generateWorld({ seed: "approvals", markets: 3 }), START);
      const { state } = exchange;
      const statuses = new Set([...state.trades].map((trade) => tradeStatus(state, trade)));
      expect(statuses).toEqual(new Set(["CONFIRMED"]));
      const read = readDocument(JSON.parse(`{${[...documentLines(state)].join("")}}`)).state;
      expect(read.chain.restricted).toBe(1);
      expect(violations(read)).toEqual([]);
    },
  );
});
