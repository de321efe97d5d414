import { type AnyEndpoint, ENDPOINTS } from "../../api/endpoints/all.ts";
import { trading } from "../../api/endpoints/trading.ts";
import { type ErrorCode, STATUS } from "../../api/errors.ts";
import { codesOf } from "../../api/openapi.ts";
import { type GroupName, NAMED, type Named } from "./items.ts";

/** A group with its items, each with its words, a column for each. */
export interface Group {
  readonly name: GroupName;
  readonly items: ReadonlyMap<string, readonly string[]>;
}

const namedGroup = (name: Named): Group => ({
  name,
  items: new Map(
    Object.entries<true | string>(NAMED[name]).map(([item, text]) => [item, [text === true ? item : text]]),
  ),
});

/** What no scenario can meet: its exchange lets every wallet derive credentials again. */
const OUT_OF_REACH: ReadonlySet<string> = new Set<ErrorCode>(["CREDENTIALS_ALREADY_DERIVED"]);

/** The error codes of an endpoint on the servers of scenarios, which accept unknown fields. */
const documentedCodes = (endpoint: AnyEndpoint) => codesOf(endpoint, "accept");

/** In the order of the API's contract. */
function tradingCodes(): Group {
  const codes = new Set<string>(trading.flatMap(documentedCodes).filter((code) => !OUT_OF_REACH.has(code)));
  const items = Object.keys(STATUS).filter((code) => codes.has(code));
  return { name: "error codes of trading", items: new Map(items.map((code) => [code, [code]])) };
}

function endpoints(): Group {
  const items = ENDPOINTS.map(
    ({ operation, method, path }) => [operation, [operation, method, path]] as const,
  );
  return { name: "endpoints", items: new Map(items) };
}

/** What the imitated service answers, without the control plane, and without what every endpoint of it can answer. */
function endpointErrors(): Group {
  const items = new Map<string, readonly string[]>();
  const imitated = ENDPOINTS.filter(({ path }) => /^\/(?:api|clob)\//.test(path));
  const everywhere = new Set<string>(
    documentedCodes(imitated[0] as AnyEndpoint).filter((code) =>
      imitated.every((endpoint) => documentedCodes(endpoint).includes(code)),
    ),
  );
  for (const endpoint of imitated) {
    for (const code of documentedCodes(endpoint)) {
      if (OUT_OF_REACH.has(code) || everywhere.has(code)) continue;
      items.set(`${endpoint.operation} ${code}`, [endpoint.operation, code]);
    }
  }
  return { name: "errors by endpoint", items };
}

/** All that a suite can exercise; what only HTTP has counts only where all scenarios are run over it. */
export function universe(via: "auto" | "process" | "http"): readonly Group[] {
  const trade = ["order types", "order states"] as const;
  const markets = ["market states", "winning outcomes"] as const;
  const matching = [
    "match types",
    "cancel reasons",
    "matching modes",
    "self-trade policies",
    "tick sizes",
  ] as const;
  const settlement = [
    "settlement modes",
    "balance policies",
    "settlement",
    "settlement faults",
    "chain calls",
  ] as const;
  const language = ["steps", "expectations", "refused steps"] as const;
  return [
    ...[...trade, ...markets, ...matching, ...settlement].map(namedGroup),
    tradingCodes(),
    ...language.map(namedGroup),
    ...(via === "http" ? [endpoints(), endpointErrors()] : []),
  ];
}
