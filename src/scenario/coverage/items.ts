import { type AnyEndpoint, codesOf, ENDPOINTS, isTradingEndpoint } from "../../api/endpoints.ts";
import { ERROR_CODES, type ErrorCode } from "../../api/errors.ts";
import { TICK_SIZES } from "../../api/markets.ts";
import {
  BALANCE_POLICIES,
  CANCEL_REASONS,
  MATCH_TYPES,
  MATCHINGS,
  ORDER_TYPES,
  SELF_TRADE_POLICIES,
  SETTLEMENT_MODES,
  WINNING_OUTCOMES,
} from "../../core/terms.ts";
import { EXPECTATIONS, OWN_EXPECTATIONS } from "../language/expectations.ts";
import type { StepInfo } from "../language/step-source.ts";
import { STEPS } from "../language/steps.ts";

export const PARTIAL_FILL = "LIVE -> LIVE (partial fill)";
export const REORGANIZED = "MINED -> MATCHED (reorganized)";
export const GHOST = "MATCHED for ever (never mined)";

/** Items that a suite can exercise: the key under which each is counted, and its columns in the report. */
type Items = ReadonlyMap<string, readonly string[]>;

const items = (...texts: readonly string[]): Items => new Map(texts.map((text) => [text, [text]]));
const namedItems = (names: Iterable<readonly [item: string, name: string]>): Items =>
  new Map([...names].map(([item, name]) => [item, [name]]));

const stepNames = Object.entries<StepInfo>(STEPS).map(([kind, info]) => ({
  kind,
  name: info.name ?? info.key ?? kind,
  refusals: info.refusals ?? [],
}));
const expectationNames = Object.entries({ ...EXPECTATIONS, ...OWN_EXPECTATIONS });

const GROUPS = {
  "order types": items(...ORDER_TYPES),
  // States after the order's own command, and changes of a resting order.
  "order states": items(
    "new -> LIVE",
    "new -> MATCHED",
    "new -> CANCELED",
    PARTIAL_FILL,
    "LIVE -> MATCHED",
    "LIVE -> CANCELED",
    "LIVE -> EXPIRED",
  ),
  "market states": items("ACTIVE -> CLOSED", "ACTIVE -> RESOLVED", "CLOSED -> RESOLVED"),
  "winning outcomes": items(...WINNING_OUTCOMES),
  "match types": items(...MATCH_TYPES),
  "cancel reasons": items(...CANCEL_REASONS),
  "matching modes": items(...MATCHINGS),
  "self-trade policies": items(...SELF_TRADE_POLICIES),
  "tick sizes": items(...TICK_SIZES.map(String)),
  "settlement modes": items(...SETTLEMENT_MODES),
  "balance policies": items(...BALANCE_POLICIES),
  // Settlement of fills, and why they wait. `instant` confirms them at once.
  settlement: new Map([
    ...items(
      "MATCHED -> MINED",
      "MATCHED -> CONFIRMED",
      "MATCHED -> FAILED",
      "RETRYING -> MINED",
      "RETRYING -> CONFIRMED",
      "RETRYING -> FAILED",
      "MINED -> CONFIRMED",
      REORGANIZED,
      GHOST,
    ),
    ...namedItems([
      ["held: RETRIED", "MATCHED -> RETRYING"],
      ["held: UNFUNDED", "MATCHED -> RETRYING (waits for funds)"],
      ["held: DELAYED", "MATCHED (delayed)"],
      ["held: UNDERPRICED", "MATCHED (underpriced)"],
    ]),
  ]),
  "settlement faults": namedItems([
    ["fail", "fail"],
    ["retry", "retry"],
    ["delay", "delay"],
    ["ghost", "ghost"],
    ["gasSpike", "gas-spike"],
  ]),
  "chain calls": new Map([...items("split", "merge", "redeem"), ["reverted", ["reverted when mined"]]]),
  "error codes of trading": tradingCodes(),
  steps: namedItems(stepNames.map(({ kind, name }) => [kind, name])),
  expectations: namedItems(expectationNames.map(([kind, { name, key = kind }]) => [kind, name ?? key])),
  "refused steps": namedItems(
    stepNames.flatMap(({ kind, name, refusals }) =>
      refusals.map((refusal) => [`${kind}: ${refusal}`, `${name}: ${refusal}`] as const),
    ),
  ),
  endpoints: new Map(
    ENDPOINTS.map(({ operation, method, path }) => [operation, [operation, method, path]]),
  ) as Items,
  "errors by endpoint": endpointErrors(),
} as const;

export type GroupName = keyof typeof GROUPS;

export interface Group {
  readonly name: GroupName;
  readonly items: Items;
}

const OVER_HTTP: readonly string[] = ["endpoints", "errors by endpoint"];

/** Returns all groups; those of HTTP only if all scenarios run over HTTP. */
export const universe = (via: "auto" | "process" | "http"): readonly Group[] =>
  (Object.keys(GROUPS) as GroupName[])
    .filter((name) => via === "http" || !OVER_HTTP.includes(name))
    .map((name) => ({ name, items: GROUPS[name] }));

/** Returns the possible error codes of an endpoint on the servers of scenarios, which accept unknown fields. */
function documentedCodes(endpoint: AnyEndpoint): readonly ErrorCode[] {
  // A scenario's exchange allows every wallet to derive credentials again.
  return codesOf(endpoint, "accept").filter((code) => code !== "CREDENTIALS_ALREADY_DERIVED");
}

function tradingCodes(): Items {
  const codes = new Set<string>(ENDPOINTS.filter(isTradingEndpoint).flatMap(documentedCodes));
  return items(...ERROR_CODES.filter((code) => codes.has(code)));
}

/** Returns the errors of the imitated service's endpoints, without codes that all of them share. */
function endpointErrors(): Items {
  const imitated = ENDPOINTS.filter(({ path }) => /^\/(?:api|clob)\//.test(path));
  const isOwn = (code: ErrorCode): boolean =>
    !imitated.every((endpoint) => documentedCodes(endpoint).includes(code));
  return new Map(
    imitated.flatMap((endpoint) =>
      documentedCodes(endpoint)
        .filter(isOwn)
        .map((code) => [`${endpoint.operation} ${code}`, [endpoint.operation, code]] as const),
    ),
  );
}

/** Counts of items. Keys that are not items of their group are ignored by the report. */
export class Counts {
  readonly #times = new Map<string, number>();

  add(group: GroupName, item: string): void {
    const key = `${group}: ${item}`;
    this.#times.set(key, (this.#times.get(key) ?? 0) + 1);
  }

  times(group: GroupName, item: string): number {
    return this.#times.get(`${group}: ${item}`) ?? 0;
  }
}

export const isItem = (group: GroupName, text: string): boolean => GROUPS[group].has(text);
