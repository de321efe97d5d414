import { RpcError } from "./rpc-error.ts";

/** What is answered when somebody asks of a past block what only the latest tells. */
export const notKept = (height: number, head: number): RpcError =>
  new RpcError(
    "SERVER_ERROR",
    `of past blocks only balances of the collateral and of tokens are kept: asked for block ${height}, the latest is ${head}`,
  );
