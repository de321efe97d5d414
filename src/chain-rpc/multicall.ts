import { baseFeeOf, blockAt, CHAIN_ID, headBlock } from "../core/chain/chain.ts";
import { blockHash } from "../core/chain/chain-hashes.ts";
import type { Steps } from "../core/steps.ts";
import type { Address } from "../core/terms.ts";
import { reverted } from "./abis.ts";
import { type BlockView, nativeAt } from "./block-view.ts";
import { asHex, limitsOf, secondsOf } from "./encoding.ts";
import { RpcError } from "./json-rpc.ts";

/** Where Multicall3 is on every chain that has it (https://www.multicall3.com). */
export const MULTICALL_ADDRESS: Address = "0xca11bde05977b3631167028862be2a173976ca11";

/** Answers a call of a contract. @throws RpcError when it reverts. */
type Answer = (view: BlockView, to: Address, input: `0x${string}`) => Steps<string>;

interface Call {
  readonly target: string;
  readonly callData: `0x${string}`;
  /** Default: as the function has it for all. */
  readonly allowFailure?: boolean;
}
type Calls = readonly Call[];

interface Result {
  readonly success: boolean;
  readonly returnData: `0x${string}`;
}

/** The functions of Multicall3: calls of other contracts, all as of one block. */
export function multicallFunctions(answer: Answer) {
  function* resultOf(view: BlockView, { target, callData, allowFailure }: Required<Call>): Steps<Result> {
    try {
      return { success: true, returnData: asHex(yield* answer(view, target.toLowerCase(), callData)) };
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      if (!allowFailure) throw reverted("Multicall3: call failed");
      return { success: false, returnData: typeof error.data === "string" ? asHex(error.data) : "0x" };
    }
  }

  function* results(view: BlockView, calls: Calls, allowFailure: boolean): Steps<Result[]> {
    const found: Result[] = [];
    for (const call of calls) {
      found.push(yield* resultOf(view, { allowFailure, ...call }));
      yield;
    }
    return found;
  }

  function* inBlock(view: BlockView, calls: Calls, allowFailure: boolean) {
    return [BigInt(heightOf(view)), hashAt(view, heightOf(view)), yield* results(view, calls, allowFailure)];
  }

  return {
    aggregate: {
      *read(view: BlockView, [calls]: readonly [Calls]) {
        const found = yield* results(view, calls, false);
        return [BigInt(heightOf(view)), found.map(({ returnData }) => returnData)];
      },
    },
    aggregate3: { read: (view: BlockView, [calls]: readonly [Calls]) => results(view, calls, false) },
    tryAggregate: {
      read: (view: BlockView, [isStrict, calls]: readonly [boolean, Calls]) =>
        results(view, calls, !isStrict),
    },
    blockAndAggregate: {
      read: (view: BlockView, [calls]: readonly [Calls]) => inBlock(view, calls, false),
    },
    tryBlockAndAggregate: {
      read: (view: BlockView, [isStrict, calls]: readonly [boolean, Calls]) =>
        inBlock(view, calls, !isStrict),
    },
    getBasefee: { read: (view: BlockView) => BigInt(baseFeeIn(view)) },
    getBlockHash: { read: (view: BlockView, [height]: readonly [bigint]) => hashAt(view, Number(height)) },
    getBlockNumber: { read: (view: BlockView) => BigInt(heightOf(view)) },
    getChainId: { read: () => BigInt(CHAIN_ID) },
    getCurrentBlockCoinbase: { read: (view: BlockView) => limitsAt(view).miner },
    getCurrentBlockGasLimit: { read: (view: BlockView) => BigInt(limitsAt(view).gasLimit) },
    getCurrentBlockTimestamp: { read: (view: BlockView) => BigInt(secondsOf(blockIn(view).at)) },
    getEthBalance: {
      read: (view: BlockView, [address]: readonly [string]) => nativeAt(view, address.toLowerCase()),
    },
    getLastBlockHash: { read: (view: BlockView) => hashAt(view, heightOf(view) - 1) },
  };
}

/** What is pending is looked at as of the latest block. */
const blockIn = ({ state, moment }: BlockView) => (moment === "pending" ? headBlock(state.chain) : moment);
const heightOf = ({ state, moment }: BlockView): number =>
  moment === "pending" ? headBlock(state.chain).height + 1 : moment.height;
const baseFeeIn = ({ state, moment }: BlockView): number =>
  moment === "pending" ? baseFeeOf(state.chain) : moment.baseFee;

const limitsAt = ({ state, moment }: BlockView) =>
  limitsOf(state.chain, moment === "pending" ? undefined : moment.serial);

const NO_HASH = `0x${"0".repeat(64)}`;

/** The hash of an earlier block; of others there is none, as the opcode has it. */
function hashAt(view: BlockView, height: number): string {
  const block = height < heightOf(view) ? blockAt(view.state.chain, height) : undefined;
  return block === undefined ? NO_HASH : blockHash(view.state, block);
}
