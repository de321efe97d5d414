import { describe, expect, it } from "vitest";
import { diffOf, resultOf, ScenarioFolder } from "./scenario-folder.ts";

const folder = new ScenarioFolder();

const COLUMNS = "at,account,op,ref,side,outcome,price,size,type,market";
const SOUND = `${COLUMNS}
0,alice,fund,,,USDC,,100,,
0,bob,fund,,,YES,,100,,
0,bob,place,ask,SELL,YES,0.55,30,GTC,
500,bob,place,,SELL,YES,0.60,30,GTD +2s,
1s,alice,place,bid,BUY,YES,0.60,40,FAK,
2s,bob,cancel,ask,,,,,,
1m,alice,place,rest,BUY,YES,0.40,50,,
1m,carol,fund,,,USDC,,50,,
61s,carol,place,,BUY,NO,0.60,20,FOK,
62s,alice,cancel,rest,,,,,,
63s,carol,place,,BUY,YES,0.30,1,,
64s,carol,cancel-all,,,,,,,
`;
/** One row for each kind of refusal, between accepted rows. */
const REFUSED = `${COLUMNS}
0,alice,fund,,,USDC,,100,,
0,alice,place,a1,BUY,YES,0.50,100,,
1,alice,place,,BUY,YES,0.50,102.01,,
2,alice,place,,BUY,YES,0.555,1,,
3,alice,place,,BUY,YES,0.50,0.01,,
4,alice,place,,BUY,YES,0.50,1,,mars
5,alice,cancel,nobody,,,,,,
6,bob,cancel,a1,,,,,,
7,alice,place,,BUY,YES,0.50,100,,
`;

/** Converts CSV to NDJSON. */
function ndjsonOf(csv: string): string {
  const [head = "", ...rows] = csv.trimEnd().split("\n");
  const names = head.split(",");
  const objectOf = (row: string): object =>
    Object.fromEntries(row.split(",").flatMap((cell, index) => (cell === "" ? [] : [[names[index], cell]])));
  return rows.map((row) => `${JSON.stringify(objectOf(row))}\n`).join("");
}

const replaying = (file: string, rejected = 0): string => `scenario: a flow is replayed
accounts: { alice: { USDC: 1 } }
steps:
  - advance: 5s
  - replay: { file: ${file}, rejected: ${rejected} }
  - alice: BUY 1 YES @ 0.10
`;

describe("a replayed flow", () => {
  it.each([
    ["sound.csv", SOUND, 0],
    ["sound.ndjson", ndjsonOf(SOUND), 0],
    ["refused.csv", REFUSED, 6],
    ["refused.ndjson", ndjsonOf(REFUSED), 6],
  ])("has the same results in this process and over HTTP: %s", async (name, text, rejected) => {
    folder.write(name, text);
    const scenario = folder.scenario(replaying(name, rejected));
    const [local, remote] = [await resultOf(scenario), await resultOf(scenario, { via: "http" })];
    expect(local.failure).toBeNull();
    expect(remote.failure).toBeNull();
    expect(remote.transcript).toEqual(local.transcript);
    expect(remote.stateHash).toBe(local.stateHash);
  });

  it("is the same from CSV and from NDJSON", async () => {
    folder.write("same.csv", SOUND);
    folder.write("same.ndjson", ndjsonOf(SOUND));
    const [csv, ndjson] = [
      await folder.run(replaying("same.csv")),
      await folder.run(replaying("same.ndjson")),
    ];
    expect(ndjson.stateHash).toBe(csv.stateHash);
    expect(ndjson.transcript[1]?.replace("ndjson", "csv")).toBe(csv.transcript[1]);
  });

  it("reports the number of rows and of results", async () => {
    folder.write("told.csv", SOUND);
    const { transcript } = await folder.run(replaying("told.csv"));
    expect(transcript[1]).toMatch(/ → 12 rows: 6 placed, 2 canceled, 0 refused, 3 fills$/);
  });
});

describe("refused rows of a flow", () => {
  it.each(["process", "http"] as const)(
    "fail the scenario, counted, and the first is named: %s",
    async (via) => {
      folder.write("first.csv", REFUSED);
      const failure = await folder.failure(replaying("first.csv"), { via });
      expect({ message: failure.message, line: failure.place.line }).toEqual({
        message: "6 rows are refused, expected 0",
        line: 5,
      });
      expect(diffOf(failure)[0]).toMatch(
        /^# the first: row 3, alice: BUY 102\.01 YES @ 0\.5 GTC: INSUFFICIENT_BALANCE: /,
      );
    },
  );

  it("must be as many as the step expects", async () => {
    folder.write("seven.csv", REFUSED);
    expect((await folder.failure(replaying("seven.csv", 7))).message).toBe("6 rows are refused, expected 7");
    expect((await folder.failure(replaying("seven.csv", 5))).message).toBe("6 rows are refused, expected 5");
    expect((await folder.run(replaying("seven.csv", 6))).status).toBe("passed");
  });

  it("that are expected and do not occur fail the scenario", async () => {
    folder.write("none.csv", SOUND);
    const { message, diff } = await folder.failure(replaying("none.csv", 1));
    expect({ message, diff }).toEqual({ message: "0 rows are refused, expected 1", diff: [] });
  });

  it("are one row in the singular", async () => {
    folder.write("one.csv", `${COLUMNS}\n0,alice,place,,BUY,YES,0.5,100,,\n`);
    expect((await folder.failure(replaying("one.csv"))).message).toBe("1 row is refused, expected 0");
  });
});

describe("a flow that cannot be read", () => {
  it("fails at its step, with the place in the flow", async () => {
    const file = folder.write(
      "wrong.csv",
      `${COLUMNS}\n0,alice,fund,,,USDC,,1,,\n0,alice,plaice,,BUY,YES,0.5,1,,\n`,
    );
    const failure = await folder.failure(replaying("wrong.csv"));
    expect(failure.place.line).toBe(5);
    expect(failure.message).toMatch(new RegExp(`^${file}:3:\\d+: `));
    expect(failure.message).not.toContain("defect");
  });
});
