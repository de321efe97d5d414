export { CONTRACT_ABIS } from "./api/contracts.ts";
export type { StreamEntry } from "./api/event-stream.ts";
// Prices, sizes and money are numbers; a server that was started with `--numbers string` sends their decimal text instead,
// which these types do not show.
export type * from "./client/api-messages.ts";
export { ExchangeClient } from "./client/client.ts";
export type * from "./client/messages.ts";
export type { ClientOptions } from "./client/options.ts";
export { collect, pages } from "./client/pages.ts";
export type { ExchangeError } from "./client/result.ts";
export { ExchangeFailure, orThrow, type Result } from "./client/result.ts";
export type { StreamOptions } from "./client/stream.ts";
export type { WalletAccount } from "./client/wallet.ts";
export { walletOf } from "./client/wallet.ts";
export type { LocalExchange, RunningServer } from "./compose.ts";
export { ConfigError } from "./setting.ts";
export { openExchange, startExchange } from "./start-exchange.ts";
export type { StartOptions } from "./start-options.ts";
