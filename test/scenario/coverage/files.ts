import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";
import { problemText } from "../../../src/scenario/language/problem.ts";
import { loadScenario } from "../../../src/scenario/language/read-scenario.ts";
import type { Scenario } from "../../../src/scenario/language/scenario.ts";

/** A folder of a test's own that is gone after it. */
export class Folder {
  readonly path = mkdtempSync(join(tmpdir(), "clobsim-coverage-"));

  constructor() {
    afterAll(() => rmSync(this.path, { recursive: true }));
  }

  /** Writes a file and answers its path. */
  write(name: string, text: string): string {
    const path = join(this.path, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  /** A text with the folder's own path left out. */
  within(text: string): string {
    return text.replaceAll(`${this.path}/`, "");
  }
}

/** The scenario of a file. @throws when it is wrong. */
export function scenarioIn(path: string): Scenario {
  const { scenario, problems } = loadScenario(path);
  if (scenario === null || problems.length > 0) throw new Error(problems.map(problemText).join("\n"));
  return scenario;
}

/** An order that is filled in two parts, and a cancellation that comes too late. */
export const PARTS = `scenario: a bid is filled in two parts
accounts: { alice: { USDC: 1000 }, bob: { YES: 500 } }
steps:
  - alice: BUY 100 YES @ 0.50 as bid
    status: LIVE 0/100
  - bob: SELL 40 YES @ 0.50
    fills: [SELL 40 YES @ 0.50 from alice]
  - bob: SELL 60 YES @ 0.50 FAK
  - alice: cancel bid
    rejects: already matched
`;

/** Whether the market is closed before it is resolved, or not at all. */
export const ENDING = `scenario: a market ends in either way
market: { tickSize: 0.001 }
accounts: { alice: { USDC: 1000 } }
steps:
  - alice: BUY 10 YES @ 0.505 GTD +60s
  - advance: 60s
  - alice: BUY 10 YES @ 0.505
  - alice: BUY 10 YES @ 0.5055
    rejects: INVALID_TICK_SIZE
  - race: [close: market, resolve: NO]
    after:
      balances: { alice: { USDC: 1000 } }
`;

/** A request that no other step can send. */
export const UNSIGNED = `scenario: an order without a signature is refused
steps:
  - request: POST /order
    body: {}
    rejects: MISSING_AUTH_HEADER
  - request: GET /clob/time
    answers: { time: 1767225600 }
`;

export const FAILING = `scenario: a book is never what it is not
accounts: { alice: { USDC: 1000 } }
steps:
  - alice: BUY 10 YES @ 0.5 FOK
  - expect: { book: { YES: { bids: [0.5 x 10] } } }
`;
