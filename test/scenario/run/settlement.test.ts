import { describe, expect, it } from "vitest";
import { money, size } from "../../../src/core/units.ts";
import { LocalVenue } from "../../../src/scenario/venue/local-venue.ts";
import { detailsOf, ScenarioFolder } from "./scenario-folder.ts";

const folder = new ScenarioFolder();

const HEAD = `scenario: something settles
settlement: manual
accounts: { alice: { USDC: 10 }, bob: { YES: 10 } }
steps:
`;

const WAYS = ["process", "http"] as const;

/** Returns the lines of the steps, without the final state. */
const linesOf = ({ transcript }: { readonly transcript: readonly string[] }): readonly string[] =>
  transcript.slice(0, transcript.indexOf("end"));

describe.each(WAYS)("by %s", (via) => {
  it("the transcript has the result of each step of the chain", async () => {
    const result = await folder.run(
      `${HEAD}  - alice: BUY 10 YES @ 0.50 as bid
  - chain fault: { kind: gas-spike }
  - bob: SELL 10 YES @ 0.50
  - mine: 2
  - bump: fees
  - mine: 1
  - reorg: 2
  - chain fault: none
  - fail settlement: next
    reason: rain
  - fail settlement: never
  - alice: split 5
  - mine: 1
  - alice: redeem
    rejects: TRANSACTION_REVERTED
`,
      { via },
    );
    expect(result.failure).toBeNull();
    expect(linesOf(result)).toEqual([
      "1. alice: BUY 10 YES @ 0.50 as bid → LIVE 0/10",
      "2. chain fault: { kind: gas-spike }",
      "3. bob: SELL 10 YES @ 0.50 → MATCHED 10/10",
      "   SELL 10 YES @ 0.5 from alice",
      "4. mine: 2 → block 2",
      "5. bump: fees → 1 raised",
      "6. mine: 1 → block 3",
      "7. reorg: 2",
      "8. chain fault: none",
      "9. fail settlement: next",
      "10. fail settlement: never",
      "11. alice: split 5",
      "12. mine: 1 → block 4",
      "13. alice: redeem → refused: TRANSACTION_REVERTED",
    ]);
  });

  it("and at the end the balance on the chain, if it differs", async () => {
    const { transcript } = await folder.run(
      `${HEAD}  - alice: BUY 10 YES @ 0.50\n  - bob: SELL 10 YES @ 0.50\n`,
      { via },
    );
    expect(transcript.filter((line) => /^ {3}(?:alice|bob) /.test(line))).toEqual([
      "   alice USDC 5 (10 on the chain), market YES 10 (0 on the chain)",
      "   bob USDC 5 (0 on the chain), market YES 0 (10 on the chain)",
    ]);
  });

  it("a transaction that would revert ends the scenario with the contract's reason", async () => {
    expect(detailsOf(await folder.failure(`${HEAD}  - alice: split 10.01\n`, { via }))).toEqual({
      at: "5:5",
      message: "refused: TRANSACTION_REVERTED: execution reverted: ERC20: transfer amount exceeds balance",
      diff: [],
    });
  });

  it("a transaction that is sent although a refusal is expected ends the scenario", async () => {
    const text = `${HEAD}  - alice: split 10\n    rejects: TRANSACTION_REVERTED\n`;
    expect(detailsOf(await folder.failure(text, { via }))).toEqual({
      at: "6:14",
      message: "accepted, expected to be refused with TRANSACTION_REVERTED",
      diff: ["- TRANSACTION_REVERTED", "+ accepted"],
    });
  });

  it.each([
    ["manual", 0, 1, "1 block is too deep: no block can be undone now (no block has been mined yet)"],
    ["manual", 1, 2, "2 blocks is too deep: at most 1 can be undone now (1 block mined so far)"],
    [
      ...(["manual", 4, 3] as const),
      "3 blocks is too deep: at most 2 can be undone now (a block with two others on top is final)",
    ],
    [
      ...(["instant", 1, 1] as const),
      "1 block is too deep: no block can be undone now (with --settlement instant every block is final at once)",
    ],
  ])(
    "with %s settlement and %i blocks, reorg: %i is refused with the reason",
    async (mode, mined, depth, why) => {
      const mine = mined === 0 ? "" : `  - mine: ${mined}\n`;
      const text = `scenario: r\nsettlement: ${mode}\nsteps:\n${mine}  - reorg: ${depth}\n`;
      const { message } = await folder.failure(text, { via });
      expect(message).toBe(`refused: INVALID_PARAMETER: a reorganization of ${why}`);
    },
  );

  it("in a race a transaction that would revert is an outcome", async () => {
    const text = `${HEAD}  - race: [{ alice: split 10 }, { mine: 1 }, { alice: merge 10 }]\n`;
    const { failure, races } = await folder.run(text, { via });
    expect(failure).toBeNull();
    const merged = races[0]?.outcomes.filter(({ lines }) => !lines.some((line) => line.includes("refused")));
    expect(merged).toHaveLength(1);
  });

  it("`fail settlement: never` removes only faults that fail settlements", async () => {
    const { failure } = await folder.run(
      `${HEAD}  - chain fault: { kind: retry, times: 1 }
  - fail settlement: all
  - fail settlement: next 3
  - fail settlement: never
  - alice: BUY 10 YES @ 0.50 as bid
  - bob: SELL 10 YES @ 0.50
  - mine: 1
  - expect: { chain: { settled: { bid: RETRYING } } }
`,
      { via },
    );
    expect(failure).toBeNull();
  });
});

describe("a wallet without gas money", () => {
  it("is refused with the node's message", async () => {
    const scenario = folder.scenario(`${HEAD}  - mine: 1\n`);
    const venue = new LocalVenue(scenario);
    await venue.open("alice", [{ asset: "USDC", amount: money(10_000_000) }]);
    const address = venue.addressOf("alice");
    venue.exchange.submit({ kind: "setNativeBalance", address, wei: "1" });
    expect(venue.transact("alice", "market", { kind: "split", size: size(100) })).toMatchObject({
      code: "TRANSACTION_REFUSED",
      message: expect.stringMatching(/^Insufficient funds for gas \* price \+ value: have 1 want \d+$/),
    });
  });
});
