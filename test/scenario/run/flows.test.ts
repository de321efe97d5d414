import { describe, expect, it } from "vitest";
import { Desk, diffOf, resultOf } from "./desk.ts";

const desk = new Desk();

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
/** One row for each way to be refused, between rows that are not. */
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

/** The rows of a CSV text as JSON lines. */
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
  ])("does and sees the same in this process and over HTTP: %s", async (name, text, rejected) => {
    desk.write(name, text);
    const scenario = desk.scenario(replaying(name, rejected));
    const [local, remote] = [await resultOf(scenario), await resultOf(scenario, { via: "http" })];
    expect(local.failure).toBeNull();
    expect(remote.failure).toBeNull();
    expect(remote.transcript).toEqual(local.transcript);
    expect(remote.stateHash).toBe(local.stateHash);
  });

  it("does the same from CSV and from JSON lines", async () => {
    desk.write("same.csv", SOUND);
    desk.write("same.ndjson", ndjsonOf(SOUND));
    const [csv, ndjson] = [await desk.run(replaying("same.csv")), await desk.run(replaying("same.ndjson"))];
    expect(ndjson.stateHash).toBe(csv.stateHash);
    expect(ndjson.transcript[1]?.replace("ndjson", "csv")).toBe(csv.transcript[1]);
  });

  it("tells how many rows there were and what became of them", async () => {
    desk.write("told.csv", SOUND);
    const { transcript } = await desk.run(replaying("told.csv"));
    expect(transcript[1]).toMatch(/ → 12 rows: 6 placed, 2 canceled, 0 refused, 3 fills$/);
  });
});

describe("refused rows of a flow", () => {
  it.each(["process", "http"] as const)(
    "fail the scenario, counted, and the first is named: %s",
    async (via) => {
      desk.write("first.csv", REFUSED);
      const failure = await desk.failure(replaying("first.csv"), { via });
      expect({ message: failure.message, line: failure.place.line }).toEqual({
        message: "6 rows are refused, expected 0",
        line: 5,
      });
      expect(diffOf(failure)[0]).toMatch(
        /^# the first: row 3, alice: BUY 102\.01 YES @ 0\.5 GTC: INSUFFICIENT_BALANCE: /,
      );
    },
  );

  it("must be as many as the step says, not one less", async () => {
    desk.write("seven.csv", REFUSED);
    expect((await desk.failure(replaying("seven.csv", 7))).message).toBe("6 rows are refused, expected 7");
    expect((await desk.failure(replaying("seven.csv", 5))).message).toBe("6 rows are refused, expected 5");
    expect((await desk.run(replaying("seven.csv", 6))).status).toBe("passed");
  });

  it("that are expected and do not come fail the scenario", async () => {
    desk.write("none.csv", SOUND);
    const { message, diff } = await desk.failure(replaying("none.csv", 1));
    expect({ message, diff }).toEqual({ message: "0 rows are refused, expected 1", diff: [] });
  });

  it("are one row in the singular", async () => {
    desk.write("one.csv", `${COLUMNS}\n0,alice,place,,BUY,YES,0.5,100,,\n`);
    expect((await desk.failure(replaying("one.csv"))).message).toBe("1 row is refused, expected 0");
  });
});

describe("a flow that cannot be read", () => {
  it("fails at its step, with the place in the flow", async () => {
    const file = desk.write(
      "wrong.csv",
      `${COLUMNS}\n0,alice,fund,,,USDC,,1,,\n0,alice,plaice,,BUY,YES,0.5,1,,\n`,
    );
    const failure = await desk.failure(replaying("wrong.csv"));
    expect(failure.place.line).toBe(5);
    expect(failure.message).toMatch(new RegExp(`^${file}:3:\\d+: `));
    expect(failure.message).not.toContain("defect");
  });
});
