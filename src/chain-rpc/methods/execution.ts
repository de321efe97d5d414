import { callGas } from "../../core/chain/gas.ts";
import { outcomeOfCall } from "../../core/rules/chain/execute-call.ts";
import { readMoment } from "../block-parameter.ts";
import { callerOf, readCallRequest } from "../call-request.ts";
import { answerCall } from "../contracts/answer-call.ts";
import { contractCallOf } from "../contracts/contract-call.ts";
import { reverted } from "../contracts/reverted.ts";
import { presentState } from "../contracts/scene.ts";
import { quantity } from "../hex.ts";
import { RpcError } from "../rpc-error.ts";
import { type Methods, open } from "./method.ts";

/** What a call would answer and cost. */
export const executionMethods: Methods = {
  eth_call: open(1, 4, (node, [transaction, block, ...overrides]) => {
    refuseOverrides(overrides);
    const moment = readMoment(node.state, block);
    const request = readCallRequest(transaction);
    const has = node.state.chain.wallets.get(callerOf(request))?.native ?? 0n;
    if (request.value > has) {
      throw new RpcError(
        "TRANSACTION_REJECTED",
        `Insufficient funds for gas * price + value: have ${has} want ${request.value}`,
      );
    }
    return answerCall({ node, moment }, request);
  }),
  eth_estimateGas: open(1, 4, (node, [transaction, block, ...overrides]) => {
    refuseOverrides(overrides);
    const state = presentState({ node, moment: readMoment(node.state, block) });
    const request = readCallRequest(transaction);
    const call = contractCallOf(request);
    const outcome = outcomeOfCall(state, { from: callerOf(request), value: request.value }, call);
    if (!outcome.ok) throw reverted(outcome.reason);
    return quantity(callGas(call, request.input));
  }),
};

/** What a call is told to take for true instead of what is so. @throws RpcError when it is told anything. */
function refuseOverrides(overrides: readonly unknown[]): void {
  for (const override of overrides) {
    if (override === null || (typeof override === "object" && Object.keys(override).length === 0)) continue;
    throw new RpcError("INVALID_PARAMS", "overrides of state and blocks are not modelled");
  }
}
