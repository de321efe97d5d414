import { concat, type Hex, keccak256, parseSignature, toHex, toRlp, trim } from "viem";
import { privateKeyToAccount } from "viem/accounts";

/** The first accounts of anvil's mnemonic, whose keys are public. */
export const ALICE = privateKeyToAccount(
  "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
);
export const BOB = privateKeyToAccount("0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d");
/** A wallet for which neither node signs. */
export const DORA = privateKeyToAccount(`0x${"0d".repeat(32)}`);

export const NOBODY = `0x${"ab".repeat(20)}` as const;
export const UNKNOWN_HASH = `0x${"ef".repeat(32)}`;
export const CHAIN_ID = 31_337;
export const GWEI = 1_000_000_000n;
export const ETHER = 1_000_000_000_000_000_000n;

interface Transfer {
  readonly nonce: number;
  readonly value?: bigint;
  readonly chainId?: number;
  readonly gas?: bigint;
  readonly fee?: bigint;
  readonly tip?: bigint;
}

/** Signs an EIP-1559 transfer to BOB. Tip and cap are equal, so that its price does not depend on the base fee. */
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

/** Signs a legacy transfer. */
export const legacy = ({ nonce, value = 1n, chainId = CHAIN_ID, gas = 21_000n, fee = 3n * GWEI }: Transfer) =>
  ALICE.signTransaction({ type: "legacy", to: BOB.address, nonce, value, chainId, gas, gasPrice: fee });

/** Signs a transfer with an access list. */
export const listed = ({ nonce, value = 1n, gas = 25_000n, fee = 3n * GWEI }: Transfer) =>
  ALICE.signTransaction({
    ...{ type: "eip2930", to: BOB.address, nonce, value, chainId: CHAIN_ID, gas, gasPrice: fee },
    accessList: [],
  });

/** Signs a transfer of the wallet for which neither node signs. */
export const ofDora = ({ nonce = 0, fee = 3n * GWEI }: Partial<Transfer>) =>
  DORA.signTransaction({
    ...{ type: "eip1559", to: BOB.address, nonce, value: 1n, chainId: CHAIN_ID, gas: 21_000n },
    ...{ maxFeePerGas: fee, maxPriorityFeePerGas: 0n },
  });

/** Signs a transaction whose tip is above its cap, which libraries refuse to sign. */
export async function tipAboveCap(): Promise<Hex> {
  const numbers = [CHAIN_ID, 4, 2n * GWEI, GWEI, 21_000].map((number) => toHex(number));
  const fields = [...numbers, BOB.address, "0x01", "0x", []] as const;
  const unsigned = concat(["0x02", toRlp(fields)]);
  const { r, s, yParity } = parseSignature(await ALICE.sign({ hash: keccak256(unsigned) }));
  const signature = [yParity === 0 ? "0x" : "0x01", trim(r), trim(s)] as const;
  return concat(["0x02", toRlp([...fields, ...signature])]);
}
