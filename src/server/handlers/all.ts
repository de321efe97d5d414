import type { Operation } from "../../api/endpoints.ts";
import type { Handlers } from "../service.ts";
import { chainHandlers, chainRpcHandlers } from "./chain.ts";
import { controlHandlers } from "./control.ts";
import { faultHandlers } from "./faults.ts";
import { marketDataHandlers, marketHandlers } from "./markets.ts";
import { orderBookHandlers } from "./order-book.ts";
import { recordingHandlers, snapshotHandlers } from "./snapshots.ts";
import { credentialsHandlers, tradingHandlers } from "./trading.ts";

/** What each endpoint does. */
export const HANDLERS: Handlers<Operation> = {
  ...orderBookHandlers,
  ...tradingHandlers,
  ...marketDataHandlers,
  ...credentialsHandlers,
  ...marketHandlers,
  ...controlHandlers,
  ...snapshotHandlers,
  ...faultHandlers,
  ...chainHandlers,
  ...chainRpcHandlers,
  ...recordingHandlers,
};
