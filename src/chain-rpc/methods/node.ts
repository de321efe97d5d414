import { baseFeeOf, CHAIN_ID, headBlock } from "../../core/chain/chain.ts";
import { blockHash } from "../../core/chain/chain-hashes.ts";
import { quantity } from "../hex.ts";
import { GAS_LIMIT, secondsOf, TIP } from "../protocol.ts";
import { control, type Methods, open } from "./method.ts";

/** What the node says of itself. */
export const nodeMethods: Methods = {
  eth_chainId: open(0, 0, () => quantity(CHAIN_ID)),
  net_version: open(0, 0, () => String(CHAIN_ID)),
  web3_clientVersion: open(0, 0, ({ version }) => `clobsim/v${version}`),
  eth_syncing: open(0, 0, () => false),
  anvil_nodeInfo: control(0, 0, ({ state }) => {
    const head = headBlock(state.chain);
    const baseFee = baseFeeOf(state.chain);
    return {
      currentBlockNumber: quantity(head.height),
      currentBlockTimestamp: secondsOf(head.at),
      currentBlockHash: blockHash(state, head),
      hardFork: "London",
      transactionOrder: "fifo",
      environment: {
        baseFee: quantity(baseFee),
        chainId: CHAIN_ID,
        gasLimit: quantity(GAS_LIMIT),
        gasPrice: quantity(baseFee + TIP),
      },
      forkConfig: { forkUrl: null, forkBlockNumber: null, forkRetryBackoff: null },
    };
  }),
};
