import { call, type Step } from "../step.ts";
import { ALICE, BOB, NOBODY } from "./wallets.ts";

/** Gas prices and estimates. */
export const FEES: readonly Step[] = [
  call("the gas price", "eth_gasPrice"),
  call("the tip", "eth_maxPriorityFeePerGas"),
  call("the fees of a block", "eth_feeHistory", ["0x1", "latest", []]),
  call("the fees of more blocks than there are", "eth_feeHistory", ["0x10", "latest", [25, 75]]),
  call("the fees without percentiles", "eth_feeHistory", ["0x1", "latest"]),
  call("the fees with a count as a number", "eth_feeHistory", [1, "latest", []]),
  call("the fees of no block", "eth_feeHistory", ["0x0", "latest", []]),
  call("the fees above the head", "eth_feeHistory", ["0x1", "0x9999", []]),
  call("the gas of a transfer", "eth_estimateGas", [{ from: ALICE.address, to: BOB.address, value: "0x1" }]),
  call("the gas of a transfer of nothing", "eth_estimateGas", [{ to: NOBODY }]),
  call("the gas at a block", "eth_estimateGas", [{ from: ALICE.address, to: BOB.address }, "latest"]),
  call("the gas of a transfer with data", "eth_estimateGas", [
    { from: ALICE.address, to: NOBODY, data: "0x00ff" },
  ]),
  call("the gas of more than one has", "eth_estimateGas", [{ from: NOBODY, to: BOB.address, value: "0x1" }]),
  call("a call with more than one has", "eth_call", [
    { from: NOBODY, to: BOB.address, value: "0x1" },
    "latest",
  ]),
];
