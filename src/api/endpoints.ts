import { accountEndpoints, credentialsEndpoints } from "./accounts.ts";
import { explainAuthEndpoints } from "./authentication.ts";
import { chainEndpoints } from "./chain.ts";
import { chainRpcEndpoints } from "./chain-rpc.ts";
import { controlEndpoints, serviceEndpoints } from "./control.ts";
import { faultEndpoints } from "./faults.ts";
import { marketControlEndpoints, marketDataEndpoints } from "./markets.ts";
import { orderBookEndpoints } from "./order-book.ts";
import { orderStoryEndpoints } from "./order-story.ts";
import { recordingEndpoints } from "./recording.ts";
import { snapshotEndpoints } from "./snapshots.ts";
import { tradingEndpoints } from "./trading.ts";

/** Every endpoint by its operation. */
const BY_OPERATION = {
  ...tradingEndpoints,
  ...credentialsEndpoints,
  ...orderBookEndpoints,
  ...marketDataEndpoints,
  ...controlEndpoints,
  ...accountEndpoints,
  ...marketControlEndpoints,
  ...orderStoryEndpoints,
  ...explainAuthEndpoints,
  ...snapshotEndpoints,
  ...faultEndpoints,
  ...chainEndpoints,
  ...chainRpcEndpoints,
  ...recordingEndpoints,
  ...serviceEndpoints,
};

export type Operation = keyof typeof BY_OPERATION;
export type EndpointOf<O extends Operation> = (typeof BY_OPERATION)[O];
export type AnyEndpoint = EndpointOf<Operation>;

/** All of them, the busiest first: the router tries them in this order. */
export const ENDPOINTS: readonly AnyEndpoint[] = [
  ...new Set([BY_OPERATION.placeOrder, BY_OPERATION.getBook, ...Object.values(BY_OPERATION)]),
];

/** Whether an endpoint trades, or gives the keys to trade with. */
export const isTradingEndpoint = ({ tag }: Pick<AnyEndpoint, "tag">): boolean =>
  tag === "Trading" || tag === "Credentials";

/** The endpoint of an operation. */
export const endpointOf = <O extends Operation>(operation: O): EndpointOf<O> => BY_OPERATION[operation];
