import { describe, expect, it } from "vitest";
import { detailsOf, ScenarioFolder } from "./scenario-folder.ts";

const folder = new ScenarioFolder();

/** A pending trade after a mined one. */
const WAITING = `scenario: something is not as the file says
settlement: manual
accounts: { alice: { USDC: 10 }, bob: { YES: 20 } }
steps:
  - alice: BUY 20 YES @ 0.50 as bid
  - bob: SELL 10 YES @ 0.50 as first
  - mine: 1
  - bob: SELL 10 YES @ 0.50 as second
`;

const MINTED = `scenario: something is not as the file says
settlement: manual
accounts: { alice: { USDC: 10 }, bob: { USDC: 10 } }
steps:
  - alice: BUY 10 YES @ 0.60
  - bob: BUY 10 NO @ 0.40
`;

type Via = "process" | "http";

async function mismatchOf(before: string, expectations: string, via: Via = "process") {
  const { message, diff } = detailsOf(
    await folder.failure(`${before}  - expect: ${expectations}\n`, { via }),
  );
  return { message, diff };
}

describe.each<Via>(["process", "http"])("what is not as expected of the chain, by %s", (via) => {
  it.each<[expectation: string, message: string, diff: string[]]>([
    [
      "{ chain: { head: 2 } }",
      "the latest block is block 1, expected block 2",
      ["- block 2", "+ block 1", "# waits until somebody mines a block"],
    ],
    [
      "{ chain: { confirmed: 1 } }",
      "the latest block that is final is block 0, expected block 1",
      ["- block 1", "+ block 0", "# waits until somebody mines a block"],
    ],
    [
      "{ chain: { pending: 0 } }",
      "the number of pending transactions is 1, expected 0",
      ["- 0", "+ 1", "# waits until somebody mines a block"],
    ],
    [
      "{ chain: { settled: { second: MINED } } }",
      "the settlement of second is not as expected",
      [
        "- fill 1 MINED",
        "+ fill 1 MATCHED",
        "# SELL 10 YES @ 0.5 GTC came; the best bid was 0.5, and 10 of 10 could be filled at its limit",
        "# filled 10 @ 0.5 (COMPLEMENTARY): met order bid of alice",
        "# matched whole",
        "# settlement waits until somebody mines a block",
      ],
    ],
  ])("%s", async (expectation, message, diff) => {
    expect(await mismatchOf(WAITING, expectation, via)).toEqual({ message, diff });
  });

  it("shows each fill of an order whose settlements differ", async () => {
    const { diff } = await mismatchOf(WAITING, "{ chain: { settled: { bid: CONFIRMED } } }", via);
    expect(diff.slice(0, 4)).toEqual([
      "- fill 1 CONFIRMED",
      "- fill 2 CONFIRMED",
      "+ fill 1 MINED",
      "+ fill 2 MATCHED",
    ]);
    expect(diff).toContain("# settlement waits until somebody mines a block");
    expect(diff.join("\n")).toMatch(/# mined in block 1 \(0x[0-9a-f]{64}\), final after 2 of 2 more blocks/);
  });

  it("shows the ledger's numbers beside those of the chain", async () => {
    expect(await mismatchOf(MINTED, "{ chain: { supply: { YES: 0, NO: 10 } } }", via)).toEqual({
      message: "the shares on the chain are not as expected",
      diff: ["- 10 NO", "+ 0 NO", "# the ledger has 10 NO with pending transactions"],
    });
    expect((await mismatchOf(MINTED, "{ chain: { supply: 10 } }", via)).diff).toEqual([
      "- 10 YES",
      "- 10 NO",
      "+ 0 YES",
      "+ 0 NO",
      "# the ledger has 10 YES with pending transactions",
      "# the ledger has 10 NO with pending transactions",
    ]);
  });

  it("shows the wallet's balance on the chain", async () => {
    expect(
      await mismatchOf(WAITING, "{ balances: { alice: { YES: { balance: 20, onChain: 20 } } } }", via),
    ).toEqual({
      message: "the YES of alice is not as expected",
      diff: [
        "  YES 20",
        "- YES 20 on the chain",
        "+ YES 10 on the chain",
        "# its wallet holds 10 on the chain, the rest is pending or dropped",
      ],
    });
  });

  it("compares the current status of earlier trades", async () => {
    const trades = "bob SELL 10 YES @ 0.50 from alice";
    const { message, diff } = await mismatchOf(
      WAITING,
      `{ trades: [${trades} MINED, ${trades} MINED] }`,
      via,
    );
    expect(message).toBe("the trades are not as expected");
    expect(diff.slice(0, 3)).toEqual([
      "  bob SELL 10 YES @ 0.5 from alice MINED",
      "- bob SELL 10 YES @ 0.5 from alice MINED",
      "+ bob SELL 10 YES @ 0.5 from alice MATCHED",
    ]);
    expect(diff.at(-1)).toBe("# settlement waits until somebody mines a block");
  });
});

describe("the settlement of an order", () => {
  const fills = (expectation: string): Promise<{ message: string; diff: string[] }> =>
    mismatchOf(WAITING, `{ chain: { settled: { ${expectation} } } }`);

  it("has one status for each fill", async () => {
    expect((await fills("bid: [MINED]")).diff.slice(0, 2)).toEqual(["  fill 1 MINED", "+ fill 2 MATCHED"]);
    expect((await fills("first: [MINED, MINED]")).diff.slice(0, 2)).toEqual([
      "  fill 1 MINED",
      "- fill 2 MINED",
    ]);
    expect((await fills("first: []")).diff.slice(0, 2)).toEqual(["- no fills", "+ fill 1 MINED"]);
  });

  it("is empty for an order without fills", async () => {
    const before = `${WAITING}  - bob: cancel all\n  - alice: BUY 1 YES @ 0.1 FAK as none\n`.replace(
      "10 }",
      "11 }",
    );
    const { diff } = await mismatchOf(before, "{ chain: { settled: { none: CONFIRMED } } }");
    expect(diff.slice(0, 2)).toEqual(["- fill 1 CONFIRMED", "+ no fills"]);
  });

  it("is unknown for a refused order", async () => {
    const before = `${WAITING}  - bob: SELL 1 YES @ 0.5 as lost\n    rejects: INSUFFICIENT_BALANCE\n`;
    expect(await mismatchOf(before, "{ chain: { settled: { lost: [MINED, FAILED] } } }")).toEqual({
      message: "order lost was never placed: step 5 was refused with INSUFFICIENT_BALANCE",
      diff: ["- MINED, FAILED"],
    });
  });
});

describe("with several markets", () => {
  it("a different supply is named with its market", async () => {
    const text = `scenario: two markets
markets: { rain: {}, snow: {} }
accounts: { alice: { USDC: 10 } }
steps:
  - alice: split 5 in rain
`;
    expect(await mismatchOf(text, "{ chain: { supply: { rain: 5, snow: 1 } } }")).toEqual({
      message: "the shares of snow on the chain are not as expected",
      diff: ["- 1 snow YES", "- 1 snow NO", "+ 0 snow YES", "+ 0 snow NO"],
    });
  });
});
