import { concat, type Hex, keccak256, parseSignature, toHex, toRlp, trim } from "viem";
import { privateKeyToAccount } from "viem/accounts";

/** The first accounts of anvil's mnemonic, whose keys everybody knows. */
export const ALICE = privateKeyToAccount(
  "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
);
export const BOB = privateKeyToAccount("0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d");
/** A wallet that neither node signs for. */
export const DORA = privateKeyToAccount(`0x${"0d".repeat(32)}`);

export const NOBODY = `0x${"ab".repeat(20)}` as const;
export const UNKNOWN_HASH = `0x${"ef".repeat(32)}`;
export const CHAIN_ID = 31_337;
export const GWEI = 1_000_000_000n;
export const ETHER = 1_000_000_000_000_000_000n;

interface Transfer {
  readonly nonce: number;
  readonly by?: typeof ALICE;
  readonly value?: bigint;
  readonly chainId?: number;
  readonly gas?: bigint;
  readonly fee?: bigint;
  readonly tip?: bigint;
}

/** A signed transfer to BOB of EIP-1559; the tip is the cap, so that what it costs does not hang on the base fee. */
export const capped = ({
  nonce,
  value = 1n,
  chainId = CHAIN_ID,
  gas = 21_000n,
  fee = 3n * GWEI,
  tip = fee,
}: Transfer) =>
  ALICE.signTransaction({
    ...{ type: "eip1559", to: BOB.address, nonce, value, chainId, gas },
    ...{ maxFeePerGas: fee, maxPriorityFeePerGas: tip },
  });

/** The same in the first form of all. */
export const legacy = ({ nonce, value = 1n, chainId = CHAIN_ID, gas = 21_000n, fee = 3n * GWEI }: Transfer) =>
  ALICE.signTransaction({ type: "legacy", to: BOB.address, nonce, value, chainId, gas, gasPrice: fee });

/** The same with an access list. */
export const listed = ({ nonce, value = 1n, gas = 25_000n, fee = 3n * GWEI }: Transfer) =>
  ALICE.signTransaction({
    ...{ type: "eip2930", to: BOB.address, nonce, value, chainId: CHAIN_ID, gas, gasPrice: fee },
    accessList: [],
  });

/** A transfer of the wallet that neither node signs for. */
export const ofDora = ({ nonce = 0, fee }: { readonly nonce?: number; readonly fee: bigint }) =>
  DORA.signTransaction({
    ...{ type: "eip1559", to: BOB.address, nonce, value: 1n, chainId: CHAIN_ID, gas: 21_000n },
    ...{ maxFeePerGas: fee, maxPriorityFeePerGas: 0n },
  });

/** What no library signs: a tip above the cap. */
export async function tipAboveCap(): Promise<Hex> {
  const numbers = [CHAIN_ID, 4, 2n * GWEI, GWEI, 21_000].map((number) => toHex(number));
  const fields = [...numbers, BOB.address, "0x01", "0x", []] as const;
  const unsigned = concat(["0x02", toRlp(fields)]);
  const { r, s, yParity } = parseSignature(await ALICE.sign({ hash: keccak256(unsigned) }));
  const signature = [yParity === 0 ? "0x" : "0x01", trim(r), trim(s)] as const;
  return concat(["0x02", toRlp([...fields, ...signature])]);
}
