import type { z } from "zod";
import { accountEndpoints, credentialsEndpoints } from "./accounts.ts";
import { explainAuthEndpoints } from "./authentication.ts";
import { chainEndpoints } from "./chain.ts";
import { chainRpcEndpoints } from "./chain-rpc.ts";
import {
  botEndpoints,
  controlEndpoints,
  faultEndpoints,
  recordingEndpoints,
  serviceEndpoints,
  snapshotEndpoints,
  takesFaults,
} from "./control.ts";
import { type Endpoint, isRaw, type Param } from "./endpoint.ts";
import { ERROR_SCOPES, type ErrorCode, type ErrorScope } from "./errors.ts";
import { orderStoryEndpoints } from "./explanations.ts";
import { marketControlEndpoints, marketDataEndpoints } from "./markets.ts";
import { orderBookEndpoints } from "./order-book.ts";
import { refusesUnknownFields, type UnknownFields } from "./request-body.ts";
import type { ReadonlyDeep, ReplyOf } from "./schemas.ts";
import { orderPreviewEndpoints, tradingEndpoints } from "./trading.ts";

const BY_OPERATION = {
  ...tradingEndpoints,
  ...credentialsEndpoints,
  ...orderBookEndpoints,
  ...marketDataEndpoints,
  ...controlEndpoints,
  ...accountEndpoints,
  ...marketControlEndpoints,
  // Before GET /sim/orders/{id}, whose id would match `preview`.
  ...orderPreviewEndpoints,
  ...orderStoryEndpoints,
  ...explainAuthEndpoints,
  ...snapshotEndpoints,
  ...faultEndpoints,
  ...botEndpoints,
  ...chainEndpoints,
  ...chainRpcEndpoints,
  ...recordingEndpoints,
  ...serviceEndpoints,
};

export type Operation = keyof typeof BY_OPERATION;
export type EndpointOf<O extends Operation> = (typeof BY_OPERATION)[O];
export type ReplyTo<O extends Operation> = ReplyOf<EndpointOf<O>["reply"]>;
export type AnyEndpoint = EndpointOf<Operation>;

/** All endpoints in the order in which the router tries them, the most used first. */
export const ENDPOINTS: readonly AnyEndpoint[] = [
  ...new Set([BY_OPERATION.placeOrder, BY_OPERATION.getBook, ...Object.values(BY_OPERATION)]),
];

export const endpointOf = (operation: Operation): AnyEndpoint => BY_OPERATION[operation];

/** Returns the endpoint of a request's path, which has no query; undefined if there is none. */
export const endpointAt = (method: string, path: string): AnyEndpoint | undefined =>
  ENDPOINTS.find((each) => each.method === method && isPathOf(each.path, path));

/** Whether a path is one of a route, such as `/api/events/{idOrSlug}`. */
export const isPathOf = (route: string, path: string): boolean =>
  new RegExp(`^${route.replaceAll(".", "\\.").replace(/\{\w+\}/g, "[^/]+")}$`).test(path);

/** Returns the path of an endpoint with the values of its parameters, encoded. */
export const filledPath = ({ path }: AnyEndpoint, values: Readonly<Record<string, string>>): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ""));

/** Whether an endpoint trades or issues API credentials. */
export const isTradingEndpoint = ({ tag }: Pick<AnyEndpoint, "tag">): boolean =>
  tag === "Trading" || tag === "Credentials";

/** Returns the error codes of an endpoint: its own and those implied by its kind and by `unknownFields`. */
export function codesOf(endpoint: Endpoint, unknownFields: UnknownFields): ErrorCode[] {
  const { access, body, errors } = endpoint;
  const isRefusing = refusesUnknownFields(endpoint, unknownFields);
  const applies: Readonly<Record<ErrorScope, boolean>> = {
    server: false,
    everywhere: true,
    body: body === null ? isRefusing : !isRaw(body),
    control: access === "control",
    signed: access === "signed",
    faults: takesFaults(endpoint),
  };
  const scopes = (Object.keys(applies) as ErrorScope[]).filter((scope) => applies[scope]);
  return [
    ...new Set([...ERROR_SCOPES.everywhere, ...errors, ...scopes.flatMap((scope) => ERROR_SCOPES[scope])]),
  ];
}

export type Route<E extends AnyEndpoint = AnyEndpoint> = E["route"];
export type OperationAt<R extends Route> = {
  [O in Operation]: EndpointOf<O>["route"] extends R ? O : never;
}[Operation];
type EndpointAt<R extends Route> = EndpointOf<OperationAt<R>>;

/** Request body, where fields with a default are optional; `never` if the endpoint takes none. */
export type BodyAt<R extends Route> =
  EndpointAt<R> extends { readonly body: { readonly schema: infer Schema extends z.ZodType } }
    ? ReadonlyDeep<z.input<Schema>>
    : never;

/** Query parameters, all optional. */
export type QueryAt<R extends Route> = {
  readonly [Name in keyof EndpointAt<R>["query"]]?: NonNullable<
    EndpointAt<R>["query"][Name] extends Param<infer Value> ? Value : never
  >;
};
