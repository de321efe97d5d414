import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { useApi } from "../support/http.ts";

const api = useApi({ clock: { mode: "scaled", rate: 20 } });

it("the example of settlement runs unchanged with automatic blocks", async () => {
  const program = ["fixtures/examples/settlement.js", api.server.url];
  const { stdout } = await promisify(execFile)(process.execPath, program);
  expect(stdout.trimEnd().split("\n")).toEqual([
    "settled   success",
    "OrderFilled   alice gives 22000000n and gets 40000000n",
    "OrderFilled   bob gives 40000000n and gets 22000000n",
    "OrdersMatched bob gives 40000000n and gets 22000000n",
    "final     CONFIRMED",
    "too early result for condition not received yet",
    "redeemed  success 10040 USDC",
    "alice has 20018 USDC",
  ]);
});
