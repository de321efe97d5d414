import { describe, expect, it } from "vitest";
import type { Scenario } from "../../../src/scenario/language/steps.ts";
import { runSuite } from "../../../src/scenario/run/run-suite.ts";
import { LocalVenue } from "../../../src/scenario/venue/local-venue.ts";
import type { Target, Venue } from "../../../src/scenario/venue/venue.ts";
import { NotRunnable } from "../../../src/scenario/venue/views.ts";
import { startScenarioServer } from "../../../src/start-exchange.ts";
import { ScenarioFolder } from "../run/scenario-folder.ts";

const folder = new ScenarioFolder();

const REQUEST = "scenario: asks by itself\nsteps: [{ request: GET /clob/time }]\n";
const FAULT = "scenario: breaks something\nsteps: [{ fault: { route: GET /clob/time, status: 503 } }]\n";
const RACING = `scenario: requests race
steps:
  - race: [{ advance: 1s }, { request: GET /clob/time }]
`;
const PLAIN = "scenario: needs nothing\nsteps: [{ advance: 1s }]\n";

describe("where a scenario runs", () => {
  it.each([
    ["HTTP by default if it has a request", REQUEST, "auto", "http"],
    ["HTTP by default if it has a fault", FAULT, "auto", "http"],
    ["HTTP by default if it has a request in a race", RACING, "auto", "http"],
    ["this process otherwise", PLAIN, "auto", "process"],
    ["HTTP for all on request", PLAIN, "http", "http"],
  ] as const)("is %s", async (_case, text, via, way) => {
    expect(await folder.run(text, { via })).toMatchObject({ status: "passed", way });
  });

  it("is this process on request: scenarios that need HTTP are skipped with the reason", async () => {
    const scenarios = [REQUEST, PLAIN, FAULT, RACING].map((text) => folder.scenario(text));
    const suite = await runSuite(scenarios, { via: "process", startServer: startScenarioServer });
    expect(suite).toMatchObject({ passed: 1, skipped: 3, failed: 0 });
    const skipped = suite.results.filter(({ status }) => status === "skipped");
    for (const { reason, steps, transcript } of skipped) {
      expect(reason).toBe("needs HTTP: run it with --via http");
      expect({ steps, transcript }).toEqual({ steps: 0, transcript: [] });
    }
  });

  it("closes each server that it started", async () => {
    let open = 0;
    const scenarios = [REQUEST, PLAIN, `${FAULT}${"  "}`, RACING].map((text) => folder.scenario(text));
    const startServer: typeof startScenarioServer = async (...given) => {
      const server = await startScenarioServer(...given);
      open += 1;
      return {
        ...server,
        close: async () => {
          open -= 1;
          await server.close();
        },
      };
    };
    const suite = await runSuite(scenarios, { via: "http", startServer, repeat: 2 });
    expect({ passed: suite.passed, open }).toEqual({ passed: 4, open: 0 });
  });
});

describe("a deployment that cannot run a scenario", () => {
  /** Opens exchanges, and none after the first `runs`. */
  const endingAfter = (runs: number): Target => {
    let opened = 0;
    const open = async (scenario: Scenario): Promise<Venue> => {
      opened += 1;
      if (opened > runs) throw new NotRunnable("needs market rain");
      return new LocalVenue(scenario);
    };
    return { open, flags: [] };
  };

  it("skips it with the reason", async () => {
    const result = await folder.run(PLAIN, { target: endingAfter(0), repeat: 2 });
    expect(result).toMatchObject({ status: "skipped", reason: "needs market rain", failure: null });
  });

  it("fails it if it could be run before", async () => {
    const result = await folder.run(PLAIN, { target: endingAfter(1), repeat: 2 });
    const failure = { message: "needs market rain" };
    expect(result).toMatchObject({ status: "failed", reason: null, failure });
  });
});

describe("a suite", () => {
  const failing = 'scenario: fails\nsteps: [{ expect: { stateHash: "" } }]\n';

  it("counts passed, failed and skipped scenarios, and passes on each result at once", async () => {
    const told: string[] = [];
    const scenarios = [PLAIN, failing, REQUEST, PLAIN].map((text) => folder.scenario(text));
    const suite = await runSuite(scenarios, {
      via: "process",
      startServer: startScenarioServer,
      finished: ({ status }) => told.push(status),
    });
    expect(suite).toMatchObject({ passed: 2, failed: 1, skipped: 1 });
    expect(told).toEqual(["passed", "failed", "skipped", "passed"]);
  });
});
