import { encodeErrorResult } from "viem/utils";
import { RpcError } from "../rpc-error.ts";

/** What every contract of Solidity reverts with when it says why. */
const ERROR = [{ type: "error", name: "Error", inputs: [{ name: "message", type: "string" }] }] as const;

/** What a call that reverts is answered with. */
export function reverted(reason: string): RpcError {
  const data = encodeErrorResult({ abi: ERROR, errorName: "Error", args: [reason] });
  return new RpcError("EXECUTION_REVERTED", `execution reverted: ${reason}`, data);
}
