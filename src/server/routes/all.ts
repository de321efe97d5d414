import type { Operation } from "../../api/endpoints/all.ts";
import type { Handlers } from "../handler.ts";
import { chainHandlers } from "./chain.ts";
import { chainRpcHandlers } from "./chain-rpc.ts";
import { controlHandlers } from "./control.ts";
import { credentialsHandlers } from "./credentials.ts";
import { faultHandlers } from "./faults.ts";
import { marketDataHandlers } from "./market-data.ts";
import { marketHandlers } from "./markets.ts";
import { orderBookHandlers } from "./order-book.ts";
import { recordingHandlers } from "./recording.ts";
import { snapshotHandlers } from "./snapshots.ts";
import { tradingHandlers } from "./trading.ts";

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
