import { encodeFunctionResult } from "viem/utils";
import { outcomeOfCall } from "../../core/rules/chain/execute-call.ts";
import { type CallRequest, callerOf } from "../call-request.ts";
import { ABIS, type Decoded, decodeInput, isContract } from "./abis.ts";
import { readCollateral } from "./collateral-views.ts";
import { writeOf } from "./contract-call.ts";
import { readExchange } from "./exchange-views.ts";
import { reverted } from "./reverted.ts";
import { presentState, type Scene } from "./scene.ts";
import { readTokens } from "./token-views.ts";

/** What a call answers, ABI-encoded; nothing is changed. @throws RpcError when it reverts. */
export function answerCall(scene: Scene, request: CallRequest): string {
  const { to, input, value } = request;
  if (!isContract(to)) return "0x";
  const decoded = decodeInput(to, input);
  if (decoded.contract === null) throw reverted(decoded.reason);
  const write = writeOf(decoded);
  if (write === null) return encoded(decoded, view(scene, decoded));
  const outcome = outcomeOfCall(presentState(scene), { from: callerOf(request), value }, write);
  if (!outcome.ok) throw reverted(outcome.reason);
  return decoded.contract === "collateral" ? encoded(decoded, true) : "0x";
}

function view(scene: Scene, decoded: Decoded): unknown {
  switch (decoded.contract) {
    case "collateral":
      return readCollateral(scene, decoded.call);
    case "conditionalTokens":
      return readTokens(scene, decoded.call);
    case "exchange":
      return readExchange(scene, decoded.call);
  }
}

function encoded({ contract, call: { functionName } }: Decoded, result: unknown): string {
  return encodeFunctionResult({ abi: ABIS[contract], functionName, result } as never);
}
