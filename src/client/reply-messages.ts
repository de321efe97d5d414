// Made from the schemas of src/api by `npx vitest run test/client/generated-messages.test.ts -u`.

import type {
  Account,
  AuthExplanation,
  Bots,
  BumpedFees,
  Chain,
  ChainBlock,
  ChainTransaction,
  Clock,
  ClockChange,
  EndedBots,
  EndedSettlementFaults,
  Fault,
  Health,
  Info,
  Invariants,
  MarketSupply,
  OpenApiDocument,
  OrderPreview,
  OrderStory,
  RecordedScenario,
  RemovedFaults,
  RpcReply,
  SettlementFault,
  Snapshot,
  State,
  StateHash,
} from "./control-messages.ts";
import type {
  Book,
  CancelResult,
  Credentials,
  EventDetail,
  FeeRate,
  LastTrade,
  Market,
  MarketDetail,
  MarketEvent,
  MarketTrade,
  Midpoint,
  Order,
  Page,
  PlacedOrder,
  PricesHistory,
  Quote,
  SearchResult,
  Spread,
  TickSize,
  Time,
  Trade,
} from "./service-messages.ts";
/** What each operation answers, by its name in the OpenAPI document. */
export interface Replies {
  readonly placeOrder: PlacedOrder;
  readonly getBook: Book;
  readonly cancelOrder: CancelResult;
  readonly cancelAllOrders: CancelResult;
  readonly listOrders: Page<Order>;
  readonly listTrades: Page<Trade>;
  readonly deriveApiKey: Credentials;
  readonly getPrice: Quote;
  readonly getMidpoint: Midpoint;
  readonly getSpread: Spread;
  readonly getLastTradePrice: LastTrade;
  readonly getTickSize: TickSize;
  readonly getFeeRate: FeeRate;
  readonly getTime: Time;
  readonly listMarkets: Page<Market>;
  readonly getMarket: MarketDetail;
  readonly getPricesHistory: PricesHistory;
  readonly listMarketTrades: Page<MarketTrade>;
  readonly listEvents: Page<MarketEvent>;
  readonly getEvent: EventDetail;
  readonly search: Page<SearchResult>;
  readonly getInfo: Info;
  readonly getClock: Clock;
  readonly setClock: ClockChange;
  readonly reset: Info;
  readonly getState: State;
  readonly getStateHash: StateHash;
  readonly getInvariants: Invariants;
  readonly listAccounts: Page<Account>;
  readonly getAccount: Account;
  readonly fundAccount: Account;
  readonly issueCredentials: Credentials;
  readonly createEvent: MarketEvent;
  readonly createMarket: Market;
  readonly closeMarket: Market;
  readonly resolveMarket: Market;
  readonly previewOrder: OrderPreview;
  readonly explainOrder: OrderStory;
  readonly explainAuth: AuthExplanation;
  readonly listSnapshots: Page<Snapshot>;
  readonly takeSnapshot: Snapshot;
  readonly restoreSnapshot: Info;
  readonly forgetSnapshot: Snapshot;
  readonly listFaults: Page<Fault>;
  readonly addFault: Fault;
  readonly removeFaults: RemovedFaults;
  readonly removeFault: Fault;
  readonly getBots: Bots;
  readonly startBots: Bots;
  readonly endBots: EndedBots;
  readonly getChain: Chain;
  readonly listBlocks: Page<ChainBlock>;
  readonly listPendingTransactions: Page<ChainTransaction>;
  readonly getSupply: MarketSupply;
  readonly mineBlocks: Chain;
  readonly bumpFees: BumpedFees;
  readonly listSettlementFaults: Page<SettlementFault>;
  readonly addSettlementFault: SettlementFault;
  readonly removeSettlementFaults: EndedSettlementFaults;
  readonly removeSettlementFault: SettlementFault;
  readonly callChain: RpcReply;
  readonly recordScenario: RecordedScenario;
  readonly reportSession: string;
  readonly streamSession: string;
  readonly getHealth: Health;
  readonly getOpenApi: OpenApiDocument;
}
