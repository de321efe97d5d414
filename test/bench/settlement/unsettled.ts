import { commonFlow } from "../flow.ts";
import { prepareSettled } from "./settlement-section.ts";

/** Prepares the common flow on an exchange without settlement; bundled separately with `no-settlement.ts`. */
export function unsettledFlow(operations: number): () => () => unknown {
  const flow = commonFlow({ levels: 99, operations });
  return () => prepareSettled(flow, { settlement: "manual", commandsABlock: 0 });
}
