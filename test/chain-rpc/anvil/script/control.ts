import { call, hex, mineAt, nextBlockAt, ofResult, type Step, sendRaw } from "../step.ts";
import { ALICE, BOB, capped, DORA, ETHER, GWEI, NOBODY, ofDora, UNKNOWN_HASH } from "./wallets.ts";

const balanceAt = (title: string, block: unknown): Step => call(title, "eth_getBalance", [NOBODY, block]);

/** Reads as of past blocks. */
const PAST: readonly Step[] = [
  call("seven wei for nobody", "anvil_setBalance", [NOBODY, "0x7"]),
  mineAt(30_000),
  call("the height with seven wei", "eth_blockNumber"),
  call("eight wei for nobody", "anvil_setBalance", [NOBODY, "0x8"]),
  call("a block with eight wei", "anvil_mine", ["0x1"]),
  call("nine wei for nobody", "anvil_setBalance", [NOBODY, "0x9"]),
  call("three blocks with nine wei", "anvil_mine", ["0x3"]),
  balanceAt("nine wei at the latest block", "latest"),
  call("eight wei two blocks behind", "eth_getBalance", ({ result }) => [
    NOBODY,
    result("the height with seven wei"),
  ]),
  balanceAt("the balance at the safe block", "safe"),
  balanceAt("the balance at the finalized block", "finalized"),
  call("the nonce at the safe block", "eth_getTransactionCount", [ALICE.address, "safe"]),
  call("the nonce at the first block", "eth_getTransactionCount", [ALICE.address, "0x0"]),
  call("a call at the first block", "eth_call", [{ to: NOBODY }, "earliest"]),
  call("the code at the finalized block", "eth_getCode", [NOBODY, "finalized"]),
];

/** The transaction pool and dropping from it. */
const POOL: readonly Step[] = await Promise.all([
  call("dropping one that waits for lower fees", "anvil_dropAllTransactions"),
  call("an empty pool", "txpool_status"),
  call("the content of an empty pool", "txpool_content"),
  call("an empty pool in lines", "txpool_inspect"),
  call("ether for the pool", "anvil_setBalance", [DORA.address, hex(ETHER)]),
  call("a nonce that is set", "anvil_setNonce", [DORA.address, "0x14"]),
  call("the nonce that was set", "eth_getTransactionCount", [DORA.address, "latest"]),
  sendRaw("one for the pool", ofDora({ nonce: 20 })),
  sendRaw("one that waits in the pool", ofDora({ nonce: 23 })),
  call("a pool of two", "txpool_status"),
  call("the content of a pool of two", "txpool_content"),
  call("a pool of two in lines", "txpool_inspect"),
  ofResult("dropping one", "anvil_dropTransaction", "one for the pool"),
  ofResult("the one that was dropped", "eth_getTransactionByHash", "one for the pool"),
  call("dropping an unknown transaction", "anvil_dropTransaction", [UNKNOWN_HASH]),
  call("dropping under another name", "hardhat_dropTransaction", [UNKNOWN_HASH]),
  call("a pool of one", "txpool_status"),
  sendRaw("the same again after it was dropped", ofDora({ nonce: 20 })),
  call("dropping those of the wallet", "anvil_removePoolTransactions", [DORA.address]),
  call("a pool without those of the wallet", "txpool_status"),
  sendRaw("one to be dropped with all", ofDora({ nonce: 20 })),
  call("dropping all", "anvil_dropAllTransactions"),
  call("a pool after dropping all", "txpool_status"),
  call("a nonce set under another name", "hardhat_setNonce", [DORA.address, "0x1e"]),
  call("the nonce set under another name", "eth_getTransactionCount", [DORA.address, "pending"]),
  call("a nonce that is a text", "anvil_setNonce", [DORA.address, "many"]),
]);

/** Modes of mining. */
const MODES: readonly Step[] = await Promise.all([
  call("automine at first", "anvil_getAutomine"),
  call("automine under another name", "hardhat_getAutomine"),
  call("the mining interval", "anvil_getIntervalMining"),
  call("switching automine on", "evm_setAutomine", [true]),
  call("automine after switching it on", "anvil_getAutomine"),
  call("the height before mining at once", "eth_blockNumber"),
  sendRaw("a transfer that is mined at once", ofDora({ nonce: 30 })),
  {
    ...call("the nonce after mining at once", "eth_getTransactionCount", [DORA.address, "latest"]),
    awaited: "0x1f",
  },
  call("the height after mining at once", "eth_blockNumber"),
  call("switching automine off", "evm_setAutomine", [false]),
  call("automine after switching it off", "anvil_getAutomine"),
  sendRaw("a transfer that waits again", ofDora({ nonce: 31 })),
  ofResult("no receipt while it waits again", "eth_getTransactionReceipt", "a transfer that waits again"),
  call("mining every ten minutes", "evm_setIntervalMining", [600]),
  call("the mining interval of ten minutes", "anvil_getIntervalMining"),
  call("mining on request", "anvil_setIntervalMining", [0]),
  call("the mining interval of zero", "anvil_getIntervalMining"),
  call("automine that is a text", "evm_setAutomine", ["yes"]),
  call("setting the next base fee", "anvil_setNextBlockBaseFeePerGas", ["0x77359400"]),
  call("a block at that cost", "evm_mine"),
  call("the fees of that block", "eth_feeHistory", ["0x1", "latest", []]),
  call("setting the next base fee under another name", "hardhat_setNextBlockBaseFeePerGas", ["0x77359400"]),
  call("logging", "hardhat_setLoggingEnabled", [false]),
  call("setting the coinbase", "anvil_setCoinbase", [BOB.address]),
  call("the coinbase after setting it", "eth_coinbase"),
  call("less gas for blocks", "evm_setBlockGasLimit", ["0x4c4b40"]),
  nextBlockAt(31_000),
  call("a block of less gas", "evm_mine"),
  call("that block", "eth_getBlockByNumber", ["latest", false]),
  call("more gas than there is now", "eth_sendTransaction", [
    { from: BOB.address, to: ALICE.address, gas: "0x4c4b41" },
  ]),
  call("as much gas as before", "evm_setBlockGasLimit", ["0x1c9c380"]),
  call("gas that is a text", "evm_setBlockGasLimit", ["much"]),
  call("a least price", "anvil_setMinGasPrice", ["0x1"]),
  call("seven seconds between blocks", "anvil_setBlockTimestampInterval", [7]),
  call("no time between blocks", "anvil_removeBlockTimestampInterval"),
  call("no time between blocks again", "anvil_removeBlockTimestampInterval"),
]);

/** Reorganizations and resets. */
const REPLACING: readonly Step[] = [
  call("mining before replacing", "anvil_mine"),
  nextBlockAt(32_000),
  call("mining once more before replacing", "anvil_mine"),
  call("the block that is to be replaced", "eth_getBlockByNumber", ["latest", false]),
  call("replacing one block", "anvil_reorg", [1, []]),
  call("the height after replacing", "eth_blockNumber"),
  call("the block that was replaced", "eth_getBlockByHash", ({ result }) => [
    (result("the block that is to be replaced") as { hash: string }).hash,
    false,
  ]),
  call("replacing more than there is", "anvil_reorg", [9_999, []]),
  call("replacing by a text", "anvil_reorg", ["one", []]),
];

/** Gas above the limit of a block. */
const GAS: readonly Step[] = await Promise.all([
  sendRaw("more gas than a block has", capped({ nonce: 8, gas: 40_000_000n, fee: 2n * GWEI })),
  sendRaw("as much gas as a transaction may ask", capped({ nonce: 8, gas: 16_000_000n, fee: 2n * GWEI })),
  call("more gas than a block has in a name", "eth_sendTransaction", [
    { from: ALICE.address, to: BOB.address, gas: "0x2625a00" },
  ]),
]);

/** Control methods. */
export const CONTROL: readonly Step[] = [...PAST, ...POOL, ...MODES, ...REPLACING, ...GAS];
