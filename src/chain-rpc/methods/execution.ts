import { encodeErrorResult } from "viem/utils";
import { callGas } from "../../core/chain/gas.ts";
import { outcomeOfCall } from "../../core/rules/chain/execute-call.ts";
import { callerOf, readCallRequest } from "../call-request.ts";
import { contractCallOf } from "../contracts/contract-call.ts";
import { quantity } from "../hex.ts";
import { RpcError } from "../rpc-error.ts";
import { type Methods, open } from "./method.ts";

/** What a call would answer and cost. */
export const executionMethods: Methods = {
  eth_estimateGas: open(1, 3, ({ state }, [transaction]) => {
    const request = readCallRequest(transaction);
    const call = contractCallOf(request);
    const outcome = outcomeOfCall(state, { from: callerOf(request), value: request.value }, call);
    if (!outcome.ok) throw reverted(outcome.reason);
    return quantity(callGas(call, request.input));
  }),
};

const ERROR = [{ type: "error", name: "Error", inputs: [{ name: "message", type: "string" }] }] as const;

function reverted(reason: string): RpcError {
  const data = encodeErrorResult({ abi: ERROR, errorName: "Error", args: [reason] });
  return new RpcError("EXECUTION_REVERTED", `execution reverted: ${reason}`, data);
}
