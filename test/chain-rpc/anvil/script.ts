import { readFileSync } from "node:fs";
import { concat, type Hex, keccak256, parseSignature, toHex, toRlp, trim } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { Answers, Step } from "./step.ts";

/** The first accounts of anvil's mnemonic, whose keys are public. */
const ALICE = privateKeyToAccount("0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80");
const BOB = privateKeyToAccount("0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d");
/** A wallet for which neither node signs. */
const DORA = privateKeyToAccount(`0x${"0d".repeat(32)}`);

const CHAIN_ID = 31_337;
const GWEI = 1_000_000_000n;
const ETHER = 1_000_000_000_000_000_000n;

interface Transfer {
  readonly nonce: number;
  readonly value?: bigint;
  readonly chainId?: number;
  readonly gas?: bigint;
  readonly fee?: bigint;
  readonly tip?: bigint;
}

/** Signs an EIP-1559 transfer to BOB. Tip and cap are equal, so that its price does not depend on the base fee. */
const capped = ({
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
const legacy = ({ nonce, value = 1n, chainId = CHAIN_ID, gas = 21_000n, fee = 3n * GWEI }: Transfer) =>
  ALICE.signTransaction({ type: "legacy", to: BOB.address, nonce, value, chainId, gas, gasPrice: fee });

/** Signs a transfer with an access list. */
const listed = ({ nonce, value = 1n, gas = 25_000n, fee = 3n * GWEI }: Transfer) =>
  ALICE.signTransaction({
    ...{ type: "eip2930", to: BOB.address, nonce, value, chainId: CHAIN_ID, gas, gasPrice: fee },
    accessList: [],
  });

/** Signs a transfer of the wallet for which neither node signs. */
const ofDora = ({ nonce = 0, fee = 3n * GWEI }: Partial<Transfer>) =>
  DORA.signTransaction({
    ...{ type: "eip1559", to: BOB.address, nonce, value: 1n, chainId: CHAIN_ID, gas: 21_000n },
    ...{ maxFeePerGas: fee, maxPriorityFeePerGas: 0n },
  });

/** Signs a transaction whose tip is above its cap, which libraries refuse to sign. */
async function tipAboveCap(): Promise<Hex> {
  const numbers = [CHAIN_ID, 4, 2n * GWEI, GWEI, 21_000].map((number) => toHex(number));
  const fields = [...numbers, BOB.address, "0x01", "0x", []] as const;
  const unsigned = concat(["0x02", toRlp(fields)]);
  const { r, s, yParity } = parseSignature(await ALICE.sign({ hash: keccak256(unsigned) }));
  const signature = [yParity === 0 ? "0x" : "0x01", trim(r), trim(s)] as const;
  return concat(["0x02", toRlp([...fields, ...signature])]);
}

const SIGNED = { capped, legacy, listed, ofDora, tipAboveCap };
const UNITS: Readonly<Record<string, bigint>> = { "": 1n, gwei: GWEI, ether: ETHER };

/** Signs a transaction in words: `capped nonce=1 value=2ether`. */
function signed(words: string): Promise<Hex> {
  const [form = "", ...fields] = words.split(" ");
  const transfer = fields.map((field) => {
    const [, name = "", count = "", unit = ""] = /^(\w+)=(\d+)(\w*)$/.exec(field) ?? [];
    const isNumber = name === "nonce" || name === "chainId";
    return [name, isNumber ? Number(count) : BigInt(count) * (UNITS[unit] ?? 1n)] as const;
  });
  return SIGNED[form as keyof typeof SIGNED](Object.fromEntries(transfer) as unknown as Transfer);
}

/** JSON of names in the script. */
const NAMES: Readonly<Record<string, string>> = {
  ...{ ALICE: ALICE.address, BOB: BOB.address, DORA: DORA.address },
  ...{ NOBODY: `0x${"ab".repeat(20)}`, UNKNOWN: `0x${"ef".repeat(32)}` },
};

/** Returns JSON with names, times and results in their places. */
function filled(text: string, { result }: Answers): string {
  const start = () => Number((result("the first block") as { readonly timestamp: string }).timestamp);
  return text
    .replace(/\b(?:ALICE|BOB|DORA|NOBODY|UNKNOWN)\b/g, (name) => JSON.stringify(NAMES[name]))
    .replace(/<second (\d+)>/g, (_, seconds) => String(start() + Number(seconds)))
    .replace(/<second (\d+) in hex>/g, (_, seconds) => JSON.stringify(toHex(start() + Number(seconds))))
    .replace(/<([^<>.]+)>/g, (_, title) => JSON.stringify(result(title)))
    .replace(/<([^<>.]+)\.hash>/g, (_, title) =>
      JSON.stringify((result(title) as { readonly hash: string }).hash),
    );
}

async function stepOf(line: string): Promise<Step> {
  const [, title = "", verb = "", words = ""] = /^([^:]+): (\S+) ?(.*)$/.exec(line) ?? [];
  if (verb === "=") return { title, body: () => words };
  const isSent = verb === "send";
  const method = isSent ? "eth_sendRawTransaction" : verb;
  const [params = "", awaited] = isSent ? [`"${await signed(words)}"`] : words.split(" until ");
  return {
    title,
    body: (answers) => `{"jsonrpc":"2.0","id":1,"method":"${method}","params":[${filled(params, answers)}]}`,
    ...(awaited !== undefined && { awaited: JSON.parse(awaited) as unknown }),
  };
}

const [, ...sections] = readFileSync(new URL("script.txt", import.meta.url), "utf8").split(/^# .*\n/m);

/** The requests of the script, in its order. */
export const SCRIPT: readonly Step[] = await Promise.all(
  sections.flatMap((section) => section.trim().split("\n")).map(stepOf),
);
