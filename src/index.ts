export { CONTRACT_ABIS } from "./api/contracts.ts";
export type { StreamEntry } from "./api/event-stream.ts";
// Prices, sizes and money are numbers; a server that was started with `--numbers string` sends their decimal text instead,
// which these types do not show.
export type * from "./client/api-messages.ts";
export {
  type ClientOptions,
  ExchangeClient,
  type Quotes,
  type WalletAccount,
  walletOf,
} from "./client/client.ts";
export type { NewOrder, SigningCredentials } from "./client/connection.ts";
export type { StreamOptions } from "./client/control.ts";
export {
  collect,
  type ExchangeError,
  ExchangeFailure,
  orThrow,
  pages,
  type Result,
} from "./client/result.ts";
export type { LocalExchange, RunningServer } from "./compose.ts";
export { ConfigError } from "./setting.ts";
export { openExchange, startExchange } from "./start-exchange.ts";
export type { StartOptions } from "./start-options.ts";
