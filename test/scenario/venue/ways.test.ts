import { describe, expect, it } from "vitest";
import { runSuite } from "../../../src/scenario/run/run-suite.ts";
import { startScenarioServer } from "../../../src/scenario-server.ts";
import { Desk } from "../run/desk.ts";

const desk = new Desk();

const REQUEST = "scenario: asks by itself\nsteps: [{ request: GET /clob/time }]\n";
const FAULT = "scenario: breaks something\nsteps: [{ fault: { route: GET /clob/time, status: 503 } }]\n";
const RACING = `scenario: requests race
steps:
  - race: [{ advance: 1s }, { request: GET /clob/time }]
`;
const PLAIN = "scenario: needs nothing\nsteps: [{ advance: 1s }]\n";

describe("the way in which a scenario is run", () => {
  it.each([
    ["a request", REQUEST],
    ["a fault", FAULT],
    ["a request in a race", RACING],
  ])("is HTTP, unless told otherwise, where it has %s", async (_what, text) => {
    expect(await desk.run(text, { via: "auto" })).toMatchObject({ status: "passed", way: "http" });
  });

  it("is in this process otherwise", async () => {
    expect(await desk.run(PLAIN, { via: "auto" })).toMatchObject({ status: "passed", way: "process" });
  });

  it("is HTTP for all where that is asked for", async () => {
    expect(await desk.run(PLAIN, { via: "http" })).toMatchObject({ status: "passed", way: "http" });
  });

  it("asked to be in this process, skips with the reason what cannot be, and runs the rest", async () => {
    const scenarios = [REQUEST, PLAIN, FAULT, RACING].map((text) => desk.scenario(text));
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
    const scenarios = [REQUEST, PLAIN, `${FAULT}${"  "}`, RACING].map((text) => desk.scenario(text));
    const startServer: typeof startScenarioServer = async (...given) => {
      const server = await startScenarioServer(...given);
      open += 1;
      return {
        url: server.url,
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

describe("a suite", () => {
  const failing = 'scenario: fails\nsteps: [{ expect: { stateHash: "" } }]\n';

  it("counts what passed, failed and was skipped, and tells each result as it comes", async () => {
    const told: string[] = [];
    const scenarios = [PLAIN, failing, REQUEST, PLAIN].map((text) => desk.scenario(text));
    const suite = await runSuite(scenarios, {
      via: "process",
      startServer: startScenarioServer,
      finished: ({ status }) => told.push(status),
    });
    expect(suite).toMatchObject({ passed: 2, failed: 1, skipped: 1 });
    expect(told).toEqual(["passed", "failed", "skipped", "passed"]);
  });

  it("stops after the first failure when it is to bail", async () => {
    const scenarios = [PLAIN, failing, PLAIN].map((text) => desk.scenario(text));
    const options = { via: "process", startServer: startScenarioServer, bail: true } as const;
    expect((await runSuite(scenarios, options)).results.map(({ status }) => status)).toEqual([
      "passed",
      "failed",
    ]);
  });
});
