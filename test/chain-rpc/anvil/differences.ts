import type { Reply } from "./step.ts";

/** A difference of two answers; a missing value is undefined. */
export interface Found {
  /** The step's title and the path, such as `a block: body.result.hash`. */
  readonly where: string;
  readonly anvil: unknown;
  readonly ours: unknown;
}

/** Returns all differences of two replies to a step, down to single values. */
export const differencesOf = (title: string, anvil: Reply, ours: Reply): Found[] => [
  ...within(`${title}:`, " ", anvil, ours),
];

function* within(where: string, separator: string, anvil: unknown, ours: unknown): Generator<Found> {
  if (!isBranch(anvil) || !isBranch(ours) || Array.isArray(anvil) !== Array.isArray(ours)) {
    if (!Object.is(anvil, ours)) yield { where, anvil, ours };
    return;
  }
  for (const key of new Set([...Object.keys(anvil), ...Object.keys(ours)])) {
    yield* within(`${where}${separator}${key}`, ".", anvil[key], ours[key]);
  }
}

const isBranch = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/** An expected difference from anvil, with its reason. */
interface Difference {
  /** Patterns of `title: path`, with `*` for any text; each must occur. */
  readonly at: readonly string[];
  readonly why: string;
  /** Whether the two answers differ as expected. */
  readonly are: (found: Found) => boolean;
}

const HASH = /^0x[0-9a-f]{64}$/;
const QUANTITY = /^0x(?:0|[1-9a-f][0-9a-f]*)$/;

type Expected = RegExp | string | number | null | undefined | ((value: unknown) => boolean);

/** Whether a value is as expected: by a pattern, a predicate or equality. */
function fits(value: unknown, expected: Expected): boolean {
  if (expected instanceof RegExp) return typeof value === "string" && expected.test(value);
  return typeof expected === "function" ? expected(value) : value === expected;
}

/** Expects a value of each of the two answers. */
const are =
  (anvil: Expected, ours: Expected): Difference["are"] =>
  (found) =>
    fits(found.anvil, anvil) && fits(found.ours, ours);
/** Expects our error and anvil's result. */
const onlyWeFail =
  (code: number, message: RegExp): Difference["are"] =>
  ({ anvil, ours }) =>
    ours === undefined ? anything(anvil) : anvil === undefined && isError(ours, code, message);
/** Expects anvil's error and our result. */
const onlyAnvilFails =
  (code: number, message: RegExp): Difference["are"] =>
  ({ anvil, ours }) =>
    onlyWeFail(code, message)({ where: "", anvil: ours, ours: anvil });
const both = (expected: Expected): Difference["are"] => are(expected, expected);
const anyText = (value: unknown): boolean => typeof value === "string";
const anything = (value: unknown): boolean => value !== undefined;
/** Expects anvil's text as the beginning of ours. */
const isExtended = ({ anvil, ours }: Found): boolean =>
  typeof anvil === "string" && typeof ours === "string" && ours.startsWith(anvil);

function isError(value: unknown, code: number, message: RegExp): boolean {
  const { code: found, message: said } = value as { readonly code?: unknown; readonly message?: unknown };
  return found === code && fits(said, message);
}

/** Whether a place matches a pattern. */
export function isAt(pattern: string, where: string): boolean {
  const literal = pattern.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${literal.join(".*")}$`).test(where);
}

/** Parses places: in a line, titles and then paths, separated by ` | `; each title goes with each path of its line. */
const placesIn = (text: string): string[] =>
  [...text.matchAll(/([^:]+):([^\n]+)/g)].flatMap(([, titles = "", paths = ""]) =>
    titles.split("|").flatMap((title) => paths.split("|").map((path) => `${title.trim()}: ${path.trim()}`)),
  );

/** Builds a row of the table of differences. */
const differs = (why: string, are: Difference["are"], at: string): Difference => ({
  why,
  are,
  at: placesIn(at),
});

/** All differences from anvil: reason, expected answers, places. Any other difference is a defect. */
export const DIFFERENCES: readonly Difference[] = [
  differs("each names itself", are("anvil/v1.7.1", /^clobsim\/v\d/), "the client's version: body.result"),
  differs(
    "a block's hash is a digest of the exchange's history, not of an encoded header",
    both(HASH),
    `
    *: body.result.hash | body.result*.blockHash | body.result.parentHash | body.result.currentBlockHash
    two blocks: body.result.*
    the block of the transaction: body.result.0
    `,
  ),
  differs(
    "there are no tries, so roots are placeholders",
    both(HASH),
    "*: body.result.stateRoot | body.result.transactionsRoot | body.result.receiptsRoot",
  ),
  differs("blocks are not encoded, so their size is an estimate", both(QUANTITY), "*: body.result.size"),
  differs("there is no randomness, so `mixHash` is zero", are(HASH, /^0x0{64}$/), "*: body.result.mixHash"),
  differs(
    "the pending block has no hash, as in Geth",
    are(anyText, null),
    "the pending block with the transfer: body.result.hash",
  ),
  differs(
    "`blockTimestamp` of a receipt is a quantity, as in logs",
    are(Number.isInteger, QUANTITY),
    "*: body.result*.blockTimestamp",
  ),
  differs(
    "the base fee is 1 gwei unless a fault raises it; anvil's falls with every empty block",
    are(QUANTITY, "0x3b9aca00"),
    `
    *: body.result.baseFeePerGas
    the fees of that block: body.result.baseFeePerGas.1
    the node's info: body.result.environment.baseFee
    `,
  ),
  differs(
    "the gas price is the base fee, 1 gwei, with a tip of 1 gwei",
    are(QUANTITY, "0x77359400"),
    `
    the receipt below its cap: body.result.effectiveGasPrice
    the node's info: body.result.environment.gasPrice
    `,
  ),
  differs(
    "the balance of a sender differs, because it paid another gas price",
    both(QUANTITY),
    "the balance of the sender is back: body.result",
  ),
  differs(
    "transactions are mined in order of arrival and not by fee, because trades settle in the order of matching",
    are("fees", "fifo"),
    "the node's info*: body.result.transactionOrder",
  ),
  differs(
    "anvil does not give the timestamp of its first block",
    are(1, Number.isInteger),
    "the node's info at first: body.result.currentBlockTimestamp",
  ),
  differs(
    "filter ids count up; anvil's are random",
    are(/^0x[0-9a-f]{1,32}$/, /^0x[1-4]$/),
    "a*filter of *: body.result",
  ),
  differs(
    "fees of a block above the head are an error (out of range); anvil answers",
    onlyWeFail(-32602, /^BlockOutOfRangeError: block height is 0 but requested was 39321$/),
    "the fees above the head: body.result | body.error",
  ),
  differs(
    "a transaction signed for another chain is refused in every form; anvil accepts the first form",
    onlyWeFail(-32003, /^invalid chain id for signer: have 1 want 31337$/),
    "another chain id in the first form: body.result | body.error",
  ),
  differs(
    "a fee cap below the base fee is accepted, and the transaction waits for a lower base fee or a replacement",
    onlyAnvilFails(-32003, /^max fee per gas less than block base fee$/),
    "a cap below the base fee: body.error | body.result",
  ),
  differs(
    "a replacement must raise its cap and its tip by 10 %, as in Geth; anvil compares the caps",
    onlyWeFail(-32003, /^replacement transaction underpriced: max priority fee 1000000000, /),
    "another that raises only its cap: body.result | body.error",
  ),
  differs(
    "a known transaction gets Geth's message, with its hash",
    are("transaction already imported", /^already known: 0x[0-9a-f]{64}$/),
    "the same transfer while it is pending: body.error.message",
  ),
  differs(
    "transactions that an impersonated account sends are not signed, so their hash is not that of a signed transaction",
    both(HASH),
    `
    in *'s name: body.result
    the * of *: body.result.hash
    the receipt of *: body.result.transactionHash
    the block at that second: body.result.transactions.0
    `,
  ),
  differs(
    "transactions that an impersonated account sends have a placeholder signature",
    are(/^0x[0-9a-f]{1,64}$/, /^0x1[0-9a-f]{63}$/),
    "the transaction of *: body.result.r | body.result.s",
  ),
  differs(
    "their `v` and `yParity` are placeholders, too; anvil's have the legacy form",
    are((value) => value === undefined || fits(value, /^0x(?:[01]|f4f5)$/), /^0x[01]$/),
    "the transaction of *: body.result.v | body.result.yParity",
  ),
  differs(
    "unsigned transactions have type 2, with a cap and a tip equal to their gas price; anvil's have type 0",
    are("0x0", "0x2"),
    "the receipt of the impersonated | the transaction of the impersonated: body.result.type",
  ),
  differs(
    "unsigned transactions have the fields of type 2",
    are(undefined, anything),
    "the transaction of the impersonated: body.result.accessList | body.result.maxFeePerGas | body.result.maxPriorityFeePerGas",
  ),
  differs(
    "after anvil's message follow the expected and the found value",
    isExtended,
    `
    a call with more than one has | a balance at an unknown hash | the logs of an unknown block |
    the same transfer again | a nonce that is used | more than the sender has | another chain id |
    another that offers too little more | too little gas | bytes that are no transaction | an unknown type |
    in * | a stranger without money | a text | a number | null | an empty object | no version |
    another version | no method | a method that is a number | params of a text | an empty batch |
    an id of * | a signature *: body.error.message
    `,
  ),
  differs(
    "there is no EVM: the named fork is the latest one whose fields our blocks have",
    are("Bpo1", "Prague"),
    "the node's info*: body.result.hardFork",
  ),
  differs(
    "there is no EVM: a call costs a round amount of gas, and data has no floor (EIP-7623)",
    both(QUANTITY),
    "the gas of a transfer with data: body.result",
  ),
  differs(
    "a block is safe and final after two others; anvil's is safe after 32 and final after 64",
    both(QUANTITY),
    `
    the balance at the safe block | the balance at the finalized block |
    the nonce at the safe block: body.result
    `,
  ),
  differs(
    "the error of an unknown method names the field with all methods",
    (found) => isExtended(found) && fits(found.ours, /error\.data\.methods lists/),
    "an unknown method | a method without a name: body.error.message",
  ),
  differs(
    "the error of an unknown method lists all methods in `error.data.methods`",
    are(undefined, anything),
    "an unknown method | a method without a name: body.error.data",
  ),
  differs(
    "the error of a wrong parameter names the parameter, the expected and the found value; anvil's names what its types expect",
    are(
      /invalid|expected|exceeded|did not match|hex string without/i,
      /, found |params by name are not modelled/,
    ),
    `
    a balance without a block | half a byte | invalid hex | a parameter too * | an address that is * |
    a block that is * | a hash that is too short | full that is a text | seconds * |
    a balance that is a text | no transaction to call | a call that is a text |
    a call with data that is no hex | a snapshot that is a text | a failure keeps its id | params by name |
    an address of logs that is too short | a topic too many | a signature of no bytes |
    a nonce that is a text | automine that is a text | gas that is a text | replacing by a text |
    logs of no filter: body.error.message
    a batch with a failure: body.1.error.message
    `,
  ),
  differs(
    "invalid JSON is -32700, as in JSON-RPC 2.0",
    are(
      (value) => value === -32600 || value === "Invalid request",
      (value) => value === -32700 || fits(value, /^Parse error: /),
    ),
    "no JSON | an empty body: body.error.*",
  ),
  differs(
    "unknown fields of a request are accepted, as in JSON-RPC 2.0",
    onlyAnvilFails(-32600, /^Invalid request$/),
    "an unknown field: body.error | body.result",
  ),
  differs(
    "an invalid call fails alone and not the whole batch, as in JSON-RPC 2.0",
    ({ anvil, ours }) => !Array.isArray(anvil) && Array.isArray(ours) && ours.length === 2,
    "a batch with an invalid call: body",
  ),
  differs(
    "an address must begin with 0x, as in the execution API",
    onlyWeFail(-32602, /^address: expected an address of 20 bytes, found the string/),
    "an address without its prefix: body.result | body.error",
  ),
  differs(
    "every field of the object for `evm_mine` is optional",
    onlyAnvilFails(-32602, /^data did not match any variant of untagged enum MineOptions$/),
    "mining by an empty object: body.error | body.result",
  ),
];
