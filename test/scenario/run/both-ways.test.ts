import { beforeAll, describe, expect, it } from "vitest";
import { endpointOf, filledPath, type Operation } from "../../../src/api/endpoints.ts";
import { ExchangeClient } from "../../../src/client/client.ts";
import { targetOf } from "../../../src/client/connection.ts";
import { orThrow } from "../../../src/client/result.ts";
import { idOf } from "../../../src/core/ids.ts";
import type { Exchange } from "../../../src/engine/exchange.ts";
import { loadScenario } from "../../../src/scenario/language/read-scenario.ts";
import { needsHttp, type Scenario } from "../../../src/scenario/language/steps.ts";
import { findFiles } from "../../../src/scenario/run/files.ts";
import type { ScenarioResult } from "../../../src/scenario/run/result.ts";
import { runSuite } from "../../../src/scenario/run/run-suite.ts";
import type { ScenarioServer, StartServer } from "../../../src/scenario/venue/http-venue.ts";
import { callHandler, type DirectCall } from "../../../src/server/router.ts";
import { startScenarioServer } from "../../../src/start-exchange.ts";
import { casesAtLevel } from "../../support/runs.ts";

const SCENARIOS = casesAtLevel(findFiles(["scenarios"]))
  .map((file) => loadScenario(file).scenario as Scenario)
  .filter((scenario) => !needsHttp(scenario));

const QUOTES = ["getBook", "getPrice", "getMidpoint", "getSpread", "getLastTradePrice"] as const;

/** Returns the calls that read the books, accounts and orders of an exchange, the latest orders only. */
function readsOf({ state }: Exchange): [Operation, DirectCall][] {
  const reads: [Operation, DirectCall][] = [["getChain", {}]];
  for (const { slug, tokenIds } of state.markets) {
    const path = { idOrSlug: slug };
    reads.push(["getMarket", { path }], ["getSupply", { path }]);
    for (const tokenId of tokenIds) {
      const query = { token_id: tokenId };
      reads.push(["getPricesHistory", { path, query: { tokenId } }]);
      for (const operation of QUOTES) reads.push([operation, { query }]);
    }
  }
  for (const { address } of state.accounts) reads.push(["getAccount", { path: { address } }]);
  for (let number = Math.max(1, state.orders.next - 20); number < state.orders.next; number += 1)
    reads.push(["explainOrder", { path: { id: idOf(state.idPrefixes.order, number) } }]);
  return reads;
}

/** Requires that a server answers as its handlers do, which scenarios call directly. */
async function compareReads({ url, service }: ScenarioServer): Promise<void> {
  const client = new ExchangeClient(url);
  for (const [operation, call] of readsOf(service.exchange)) {
    const endpoint = endpointOf(operation);
    const path = targetOf(filledPath(endpoint, call.path ?? {}), call.query);
    const answer = orThrow(await client.send({ method: endpoint.method, path })).body;
    expect(answer, path).toEqual(jsonOf(await callHandler(service, operation, call)));
  }
  client.close();
}

const jsonOf = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const startServer: StartServer = async (...given) => {
  const server = await startScenarioServer(...given);
  const close = async (): Promise<void> => {
    await compareReads(server);
    await server.close();
  };
  return { ...server, close };
};

const run = async (via: "process" | "http"): Promise<ReadonlyMap<string, ScenarioResult>> => {
  const { results } = await runSuite(SCENARIOS, { via, startServer });
  return new Map(results.map((result) => [result.file, result]));
};

describe("a scenario has the same results in this process and over HTTP", () => {
  let here: ReadonlyMap<string, ScenarioResult>;
  let there: ReadonlyMap<string, ScenarioResult>;

  beforeAll(async () => {
    here = await run("process");
    there = await run("http");
  });

  it.each(SCENARIOS.map(({ place, name }) => [name, place.file]))("%s", (_name, file) => {
    const [local, remote] = [here.get(file), there.get(file)];
    expect(local?.failure).toBeNull();
    expect(remote?.failure).toBeNull();
    expect(remote?.transcript).toEqual(local?.transcript);
    expect(remote?.races).toEqual(local?.races);
    expect(remote?.stateHash).toBe(local?.stateHash);
    expect(local?.stateHash).toMatch(/^v2:[0-9a-f]{64}$/);
  });
});
