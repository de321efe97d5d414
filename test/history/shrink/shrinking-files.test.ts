import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { VenueOpener } from "../../../src/scenario/run/run-suite.ts";
import { startScenarioServer } from "../../../src/scenario-server.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { environmentIn, fingerprintIn, shrunk, superfluous } from "./planted.ts";

const folder = temporaryFolder();
const environment = environmentIn(folder);
const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);

const MORNING = `at,account,op,ref,side,outcome,price,size,type
0,dora,fund,,,USDC,,100,
0,emil,fund,,,YES,,100,
0,emil,place,ask,SELL,YES,0.55,30,GTC
0,emil,place,far,SELL,YES,0.95,30,GTC
1s,dora,place,,BUY,YES,0.60,20,FAK
1m,emil,cancel,far,,,,,
2m,dora,place,,BUY,YES,0.99,900,GTD +60s
3m,dora,place,,BUY,YES,0.20,10,GTD +60s
`;

describe("a flow", () => {
  it("becomes steps for the rows that matter", async () => {
    write("morning.csv", MORNING);
    const { text, before, files } = await shrunk(
      `scenario: a flow
steps:
  - replay: { file: morning.csv, rejected: 1 }   # in the morning
  - expect:
      balances: { dora: { USDC: 80 } }
`,
      environment,
    );
    expect(text).toBe(
      `scenario: a flow
accounts:
  dora: {}
  emil: {}
steps:
  - dora: fund 100 USDC
  - emil: fund 100 YES
  - emil: SELL 30 YES @ 0.55 as ask
  - dora: BUY 20 YES @ 0.6 FAK
  - at: 2026-01-01T00:03:00Z
  - dora: BUY 10 YES @ 0.2 GTD +60s
  - expect:
      balances: { dora: { USDC: 80 } }
`
        .replace(" as ask", "")
        .replace(/ {2}- at.*\n.*GTD.*\n/, ""),
    );
    expect({ before, files }).toEqual({ before: 9, files: [] });
  });

  it("whose row is refused unexpectedly becomes that row, with the account's funds", async () => {
    write("morning.csv", MORNING);
    const small = await shrunk(
      "scenario: a flow\naccounts: { zoe: { USDC: 5 } }\nsteps:\n  - replay: morning.csv\n  - zoe: BUY 1 YES @ 0.5\n",
      environment,
    );
    expect(small.fingerprint.sentence).toBe("dora is refused with INSUFFICIENT_BALANCE, unexpectedly");
    expect(small.text).toContain("  - dora: BUY 900 YES @ 0.99 GTD +60s\n");
    expect(small.steps).toBe(5);
    expect(await superfluous(small.text, small.fingerprint, environment)).toEqual([]);
  });

  it("gives an order another name if an account has it, because trades name accounts", async () => {
    write("named.csv", MORNING.replace("place,ask,", "place,emil,").replace("cancel,far", "cancel,emil"));
    const { text } = await shrunk(
      `scenario: a flow
steps:
  - replay: { file: named.csv, rejected: 1 }
  - expect: { trades: [dora BUY 21 YES @ 0.55 from emil] }
`,
      environment,
    );
    expect(text.slice(text.indexOf("steps:"))).toBe(`steps:
  - dora: fund 100 USDC
  - emil: fund 100 YES
  - emil: SELL 30 YES @ 0.55 as emil-2
  - dora: BUY 20 YES @ 0.6 FAK
  - expect: { trades: [dora BUY 21 YES @ 0.55 from emil] }
`);
  });

  it("that is generated becomes steps, too", async () => {
    const { text } = await shrunk(
      "scenario: made\nsteps:\n  - generate: { orders: 300, accounts: 4 }\n  - expect: { quote: { YES: { last: none } } }\n",
      environment,
    );
    expect(text).toMatch(
      /^scenario: made\naccounts:\n( {2}trader-\d: \{\}\n)+steps:\n( {2}- trader-\d: .*\n)+ {2}- expect/,
    );
    expect(text.split("\n").length).toBeLessThan(12);
  });

  it("that is too long stays a flow, with a remark", async () => {
    const { text, remarks } = await shrunk(
      "scenario: made\nsteps:\n  - generate: { orders: 6000, accounts: 4 }\n  - expect: { quote: { YES: { last: none } } }\n",
      environment,
    );
    expect(text).toContain("generate: { orders: 6000, accounts: 4 }");
    expect(remarks).toEqual([
      "generate: { orders: 6000, accounts: 4 } stays a flow: more than 5000 rows are too many steps",
    ]);
  });
});

describe("steps of included files", () => {
  it("replace the steps that include them", async () => {
    write("_inner.yaml", "steps:\n  # three\n  - zoe: BUY 3 YES @ 0.03\n");
    write(
      "_outer.yaml",
      "# one\n- zoe: BUY 1 YES @ 0.01\n- include: _inner.yaml\n# two\n- zoe:\n    BUY 2 YES\n    @ 0.02 as two\n",
    );
    const { text } = await shrunk(
      `scenario: included
accounts:
  zoe: { USDC: 100 }
steps:
    - include: _outer.yaml
    - expect:
        book: { YES: { bids: [0.03 x 3, 0.02 x 3, 0.01 x 1] } }
`,
      environment,
    );
    expect(text).toBe(`scenario: included
accounts:
  zoe: { USDC: 100 }
steps:
    - zoe:
        BUY 2 YES
        @ 0.02 as two
    - expect:
        book: { YES: { bids: [0.02 x 3] } }
`);
  });
});

describe("a list that differs in one line", () => {
  it("loses the lines of removed steps", async () => {
    const pairs = Array.from({ length: 12 }, (_, index) => 10 + index);
    const steps = pairs.map(
      (shares) => `  - a: BUY ${shares} YES @ 0.${shares}\n  - b: SELL ${shares} YES @ 0.${shares}\n`,
    );
    const trades = pairs.map(
      (shares) => `        - b SELL ${shares} YES @ 0.${shares === 17 ? 16 : shares} from a\n`,
    );
    const { text } = await shrunk(`scenario: trades
accounts: { a: { USDC: 1000 }, b: { YES: 1000 } }
steps:
${steps.join("")}  - expect:
      trades:
${trades.join("")}`);
    expect(text).toBe(`scenario: trades
accounts: { a: { USDC: 1000 }, b: { YES: 1000 } }
steps:
  - a: BUY 17 YES @ 0.17
  - b: SELL 17 YES @ 0.17
  - expect:
      trades:
        - b SELL 17 YES @ 0.16 from a
`);
  });
});

describe("a scenario that needs HTTP", () => {
  it("is tried over HTTP", async () => {
    const opener = new VenueOpener();
    const over = environmentIn(folder, (each) => opener.served(each, startScenarioServer));
    const { text, fingerprint } = await shrunk(
      `scenario: a lost reply
accounts: { alice: { USDC: 100 }, bob: {} }
steps:
  - bob: fund 5 USDC
  - fault: { route: POST /order, drop: reply, times: 1 }
  - alice: BUY 10 YES @ 0.50
    rejects: CONNECTION_LOST
  - advance: 1s
  - request: GET /orders
    as: alice
    answers: { total: 2 }
`,
      over,
    );
    expect(text).toBe(`scenario: a lost reply
accounts: { alice: { USDC: 100 } }
steps:
  - fault: { route: POST /order, drop: reply, times: 1 }
  - alice: BUY 10 YES @ 0.50
    rejects: CONNECTION_LOST
  - request: GET /orders
    as: alice
    answers: { total: 2 }
`);
    expect((await fingerprintIn(text, over))?.key).toBe(fingerprint.key);
  });
});
