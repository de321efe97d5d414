import type { ContractCall } from "../chain/transaction.ts";
import { DocumentError, type Where } from "./document-error.ts";
import { Fields } from "./fields.ts";

const DECIMAL = /^(?:0|[1-9][0-9]{0,77})$/;
const DECIMAL_TEXT = "an integer in quotes";

// Each call is written out: the order of its facts, which the state's hash sees, is that of the interfaces.

const READERS: { readonly [Kind in ContractCall["kind"]]: (...at: At) => ContractCall & { kind: Kind } } = {
  send: (...at) => {
    new Fields(...at, ["kind"]);
    return { kind: "send" };
  },
  approve: (...at) => {
    const fields = new Fields(...at, ["kind", "spender", "amount"]);
    return { kind: "approve", spender: fields.address("spender"), amount: amountIn(fields) };
  },
  transfer: (...at) => {
    const fields = new Fields(...at, ["kind", "to", "amount"]);
    return { kind: "transfer", to: fields.address("to"), amount: amountIn(fields) };
  },
  transferFrom: (...at) => {
    const fields = new Fields(...at, ["kind", "from", "to", "amount"]);
    const [from, to] = [fields.address("from"), fields.address("to")];
    return { kind: "transferFrom", from, to, amount: amountIn(fields) };
  },
  setApprovalForAll: (...at) => {
    const fields = new Fields(...at, ["kind", "operator", "approved"]);
    const [operator, approved] = [fields.address("operator"), fields.boolean("approved")];
    return { kind: "setApprovalForAll", operator, approved };
  },
  safeTransfer: (...at) => {
    const fields = new Fields(...at, ["kind", "from", "to", "ids", "amounts", "isBatch"]);
    return {
      kind: "safeTransfer",
      from: fields.address("from"),
      to: fields.address("to"),
      ids: fields.texts("ids", DECIMAL, DECIMAL_TEXT),
      amounts: fields.texts("amounts", DECIMAL, DECIMAL_TEXT),
      isBatch: fields.boolean("isBatch"),
    };
  },
  split: (...at) => ({ kind: "split", ...partitionAt(...at) }),
  merge: (...at) => ({ kind: "merge", ...partitionAt(...at) }),
  redeem: (...at) => {
    const fields = new Fields(...at, ["kind", "collateral", "parent", "condition", "indexSets"]);
    return {
      kind: "redeem",
      collateral: fields.address("collateral"),
      parent: fields.word("parent"),
      condition: fields.word("condition"),
      indexSets: fields.texts("indexSets", DECIMAL, DECIMAL_TEXT),
    };
  },
  unknown: (...at) => {
    const fields = new Fields(...at, ["kind", "reason"]);
    return { kind: "unknown", reason: fields.text("reason") };
  },
};

type At = [value: unknown, where: Where, path: string];

/** What a wallet's transaction asks of a contract. @throws DocumentError where it is no such thing. */
export function readCall(value: unknown, where: Where, path: string): ContractCall {
  const kind = Fields.kindIn(value);
  if (typeof kind !== "string" || !Object.hasOwn(READERS, kind)) {
    throw new DocumentError(where, `${path}.kind`, `one of ${Object.keys(READERS).join(", ")}`, kind);
  }
  return READERS[kind as ContractCall["kind"]](value, where, path);
}

const amountIn = (fields: Fields<"amount">): string => fields.textLike("amount", DECIMAL, DECIMAL_TEXT);

function partitionAt(...at: At) {
  const fields = new Fields(...at, ["kind", "collateral", "parent", "condition", "partition", "amount"]);
  return {
    collateral: fields.address("collateral"),
    parent: fields.word("parent"),
    condition: fields.word("condition"),
    partition: fields.texts("partition", DECIMAL, DECIMAL_TEXT),
    amount: amountIn(fields),
  };
}
