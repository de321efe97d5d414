import type { EndSettlementFault, SetNativeBalance, SetSettlementFault } from "../../chain/chain-commands.ts";
import { awaitsBlock } from "../../chain/transaction.ts";
import { accepted, type Decision, refused } from "../../decision.ts";
import type { State } from "../../state.ts";

/** Puts a fault in force; they befall settlements in the order in which they were set. */
export function setSettlementFault({ chain }: State, command: SetSettlementFault): Decision {
  const { fault, probability, times, blocks, baseFee, reason } = command;
  const number = chain.faultsSet + 1;
  // Written out: the order of its facts, which hashes see, is that of no command.
  return accepted([
    { kind: "settlementFaultSet", number, fault, probability, times, blocks, baseFee, reason },
  ]);
}

/** Ends one fault, or all; to end none is a success that changes nothing. */
export function endSettlementFault({ chain }: State, { number }: EndSettlementFault): Decision {
  if (number === null) {
    return accepted(chain.faults.length === 0 ? [] : [{ kind: "settlementFaultEnded", number: 0 }]);
  }
  return chain.faults.some((fault) => fault.number === number)
    ? accepted([{ kind: "settlementFaultEnded", number }])
    : refused({ code: "FAULT_NOT_FOUND", number });
}

/** Raises the fees of what the exchange has pending. */
export function bumpFees({ chain }: State): Decision {
  const transactions: number[] = [];
  const note = (number: number): void => {
    const transaction = chain.transactions.get(number);
    const isOwn = transaction.content === null || transaction.content.kind === "report";
    const isBumped = transaction.oddity?.isBumped ?? false;
    if (isOwn && awaitsBlock(transaction) && transaction.status === "PENDING" && !isBumped)
      transactions.push(number);
  };
  for (const number of chain.held) note(number);
  for (let number = chain.fresh; number <= chain.transactions.size; number += 1) note(number);
  return accepted(transactions.length === 0 ? [] : [{ kind: "feesBumped", transactions }]);
}

/** Gives an address so much of the native currency. */
export const setNativeBalance = ({ address, wei }: SetNativeBalance): Decision =>
  accepted([{ kind: "nativeBalanceSet", address, wei }]);
