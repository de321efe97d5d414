import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { atLevel, forAllAsync, runs } from "../../support/runs.ts";
import { environmentIn, fingerprintIn, leaky, shrunk, superfluous } from "./planted.ts";

const LONG = `# A note of the author.
scenario: something is wrong    # a title
seed: 7
clock: 2026-01-01T00:00:00Z
markets: { rain: {}, snow: { tickSize: 0.001 } }
accounts:
  # she buys
  alice: { USDC: 1000, rain YES: 50 }
  # he sells
  bob: { rain YES: 500, USDC: 1000 }
  carol: { USDC: 5 }
steps:
  # first bid
  - alice: BUY 100 YES @ 0.55 in rain as bid   # the bid

  - bob: SELL 40 YES @ 0.50 in rain
    fills: [SELL 40 YES @ 0.55 in rain from alice]
    status: MATCHED 40/40
  - alice: BUY 10 YES @ 0.10 in snow as other
  - carol: BUY 10 YES @ 0.9 in snow
    rejects: INSUFFICIENT_BALANCE
  - advance: 10s
  - alice: cancel other
  - race:
    - bob: BUY 10 YES @ 0.2 in rain
    - carol: BUY 1 YES @ 0.3 in rain as c
    after: { orders: { c: LIVE 0/1 } }
  # and here it is wrong
  - expect:
      book:     { rain YES: { bids: [0.55 x 60, 0.3 x 1, 0.2 x 10] } }
      orders:   { bid: LIVE 50/100, other: CANCELED 0/10 }   # 40!
      balances: { alice: { USDC: 945, rain YES: 40 } }
  - advance: 10s
`;

const HEADER = "scenario: repeated\naccounts: { alice: { USDC: 1000 }, bob: { YES: 1000 } }\nsteps:\n";

describe("a scenario whose steps are repeated", () => {
  it("has the fewest rounds, and the fewest steps of a round", async () => {
    const { text, before, steps, isMinimal } = await shrunk(`${HEADER}  - repeat: 50
    steps:
      - bob: BUY 1 YES @ 0.10
        rejects: INSUFFICIENT_BALANCE
      - alice: BUY 5 YES @ 0.50 as bid#   # five more
      - alice: BUY 5 YES @ 0.40 as low
      - advance: 1s
  - expect: { orders: { bid1: LIVE 0/5, bid7: CANCELED 0/5, bid50: LIVE 0/5 } }
`);
    expect(text).toBe(`scenario: repeated
accounts: { alice: { USDC: 1000 } }
steps:
  - repeat: 7
    steps:
      - alice: BUY 5 YES @ 0.50 as bid#   # five more
  - expect: { orders: { bid7: CANCELED 0/5 } }
`);
    expect({ before, steps, isMinimal }).toEqual({ before: 201, steps: 8, isMinimal: true });
  });

  it("has the rows of a flow as steps if one round is enough", async () => {
    const { text, steps, remarks } = await shrunk(`${HEADER}  - repeat: 3
    steps:
      - generate: { orders: 50, accounts: 5 }
  - expect: { quote: { YES: { last: none } } }
`);
    expect(text).toMatch(/steps:\n( {2}- \S+: (fund|BUY|SELL) .*\n)+ {2}- expect: /);
    expect(steps).toBeLessThan(8);
    expect(remarks).toEqual([]);
  });

  it("keeps flows if several rounds are needed, with a remark", async () => {
    const hashed = `${HEADER}  - repeat: 2
    steps:
      - generate: { orders: 5, accounts: 2 }
  - expect: { stateHash: "v2:${"0".repeat(64)}" }
`;
    const { text, remarks } = await shrunk(hashed);
    expect(text.slice(text.indexOf("steps:"))).toBe(hashed.slice(hashed.indexOf("steps:")));
    expect(remarks).toEqual([
      "flows and golden files stay as they are if steps are repeated, or are in another file",
    ]);
  });

  it("has no repeat if one round is enough", async () => {
    const { text } = await shrunk(`${HEADER}  - repeat: 3
    steps:
      - repeat: 4
        steps:
          - alice: BUY 5 YES @ 0.50 as bid#
          - expect: { orders: { bid#: MATCHED 5/5 } }
`);
    expect(text).toBe(`scenario: repeated
accounts: { alice: { USDC: 1000 } }
steps:
  - alice: BUY 5 YES @ 0.50 as bid1
  - expect: { orders: { bid1: MATCHED 5/5 } }
`);
  });
});

describe("a scenario whose expectation does not hold", () => {
  it("keeps what is needed to fail, word for word, with its comments", async () => {
    const { text, before, steps, isMinimal } = await shrunk(LONG);
    expect(text).toBe(`# A note of the author.
scenario: something is wrong    # a title
markets: { rain: {} }
accounts:
  # she buys
  alice: { USDC: 1000 }
  # he sells
  bob: { rain YES: 500 }
steps:
  # first bid
  - alice: BUY 100 YES @ 0.55 in rain as bid   # the bid

  - bob: SELL 40 YES @ 0.50 in rain
  # and here it is wrong
  - expect:
      orders:   { bid: LIVE 50/100 }   # 40!
`);
    expect({ before, steps, isMinimal }).toEqual({ before: 11, steps: 3, isMinimal: true });
  });

  it("is the same with CRLF line ends, which are kept", async () => {
    const { text } = await shrunk(LONG.replaceAll("\n", "\r\n"));
    expect(text.replaceAll("\r\n", "\n")).toBe((await shrunk(LONG)).text);
    expect(text.split("\r\n").length).toBe(text.split("\n").length);
  });

  it("can be JSON", async () => {
    const { text } = await shrunk(`{
  "scenario": "as JSON",
  "accounts": { "alice": { "USDC": 100 }, "bob": { "YES": 10 } },
  "steps": [
    { "alice": "BUY 10 YES @ 0.5 as bid" },
    { "bob": "SELL 1 YES @ 0.7" },
    { "expect": { "quote": { "YES": { "bid": 0.5, "ask": 0.8 } } } },
    { "advance": "1s" }
  ]
}
`);
    expect(text).toBe(`{
  "scenario": "as JSON",
  "accounts": { "bob": { "YES": 10 } },
  "steps": [
    { "bob": "SELL 1 YES @ 0.7" },
    { "expect": { "quote": { "YES": { "ask": 0.8 } } } }
  ]
}
`);
  });

  it("must fail", async () => {
    const passing = LONG.replace("50/100", "40/100").replace("rain YES: 40 }", "rain YES: 90 }");
    expect(await shrunk(passing).catch((error: Error) => error.message)).toBe("the scenario does not fail");
    await expect(shrunk("scenario: x")).rejects.toThrow("the scenario does not fail");
  });
});

describe("a race", () => {
  const RACE = `scenario: who is first
accounts: { alice: { USDC: 100 }, bob: { YES: 100 } }
steps:
  - bob: SELL 10 YES @ 0.60 as ask
  - race:
      - bob: SELL 1 YES @ 0.70
      - bob: cancel ask
      - alice: BUY 10 YES @ 0.60 as taker
    after:
      book: { YES: { bids: [] } }
      orders: { taker: MATCHED 10/10 }
`;
  it("becomes its steps in one order if that is enough", async () => {
    const { text } = await shrunk(RACE);
    expect(text).toBe(`scenario: who is first
accounts: { alice: { USDC: 100 } }
steps:
  - alice: BUY 10 YES @ 0.60 as taker
  - expect:
      book: { YES: { bids: [] } }
`);
  });

  it("counts as its steps, so that one order of them is not more", async () => {
    const { text, before, steps, remarks } = await shrunk(`scenario: nothing but a race
accounts: { alice: { USDC: 100 }, bob: { YES: 100 } }
steps:
  - race:
      - bob: SELL 10 YES @ 0.60
      - alice: BUY 10 YES @ 0.60
    after: { balances: { alice: { YES: 11 } } }
`);
    expect(text.slice(text.indexOf("steps:"))).toBe(`steps:
  - bob: SELL 10 YES @ 0.60
  - alice: BUY 10 YES @ 0.60
  - expect: { balances: { alice: { YES: 11 } } }
`);
    expect({ before, steps, remarks }).toEqual({ before: 3, steps: 3, remarks: [] });
  });
});

/** Returns a scenario of a thousand orders, cancels and pauses, and three orders of which the last fills two others. */
function thousandSteps(): string {
  const nameAt = (step: number) => ["alice", "bob", "carol"][step % 3];
  const steps = Array.from({ length: 1000 }, (_, step) => {
    if (step % 10 === 9) return `${nameAt(step - 5)}: cancel o${step - 5}`;
    if (step % 50 === 1) return "advance: 1s";
    const order = step % 2 === 0 ? "BUY 1 YES @ 0.1" : "SELL 1 YES @ 0.97";
    return `${nameAt(step)}: ${order}${step % 5 === 4 ? ` as o${step}` : ""}`;
  });
  steps.splice(900, 0, "alice: BUY 30 YES @ 0.95");
  steps.splice(600, 0, "carol: SELL 20 YES @ 0.90", "bob: SELL 15 YES @ 0.91 as ask");
  const funds = "{ USDC: 1000, YES: 1000 }";
  const head = `scenario: a thousand steps\naccounts: { alice: ${funds}, bob: ${funds}, carol: ${funds} }\nsteps:\n`;
  return head + steps.map((step) => `  - ${step}\n`).join("");
}

describe("a broken invariant", () => {
  it("in a thousand steps is reduced to three", async () => {
    const environment = environmentIn("/nowhere", leaky);
    const seen: number[] = [];
    const { text, fingerprint } = await shrunk(thousandSteps(), environment, {
      progress: (steps) => seen.push(steps),
    });
    expect(text).toBe(`scenario: a thousand steps
accounts: { alice: { USDC: 1000 }, bob: { YES: 1000 }, carol: { YES: 1000 } }
steps:
  - carol: SELL 20 YES @ 0.90
  - bob: SELL 15 YES @ 0.91 as ask
  - alice: BUY 30 YES @ 0.95
`);
    expect(fingerprint.sentence).toBe(
      "an invariant does not hold: USDC issued = balances + locked collateral",
    );
    expect(await superfluous(text, fingerprint, environment)).toEqual([]);
    expect(seen[0]).toBe(1003);
    expect(seen.at(-1)).toBe(3);
    expect(seen).toEqual([...seen].sort((a, b) => b - a));
  });
});

describe("any failing scenario", () => {
  const word = (words: string) => fc.constantFrom(...words.split(" "));
  const order = fc
    .tuple(
      word("ann ben cat"),
      word("BUY SELL"),
      fc.integer({ min: 1, max: 9 }),
      word("YES NO"),
      word("0.4 0.5 0.6"),
    )
    .map(([by, side, shares, outcome, price]) => `${by}: ${side} ${shares} ${outcome} @ ${price} as o`);
  const line = fc.oneof(
    { weight: 12, arbitrary: order },
    { weight: 1, arbitrary: fc.constant("advance: 1s") },
  );
  const textOf = (lines: readonly string[]): string => {
    const steps = lines.map((text, index) => `  - ${text.replace(/ o$/, ` o${index}`)}\n`);
    const funds = "{ USDC: 10000, YES: 1000, NO: 1000 }";
    return `scenario: any\naccounts: { ann: ${funds}, ben: ${funds}, cat: ${funds} }\nsteps:\n${steps.join("")}`;
  };

  it("becomes the same scenario each time, which fails in the same way and in which every step is needed", async () => {
    const environment = environmentIn("/nowhere", leaky);
    let failing = 0;
    await forAllAsync(
      runs(30),
      [fc.array(line, { minLength: 5, maxLength: 60, size: "max" })],
      async (lines) => {
        const text = textOf(lines);
        const fingerprint = await fingerprintIn(text, environment);
        fc.pre(fingerprint !== null);
        failing += 1;
        const small = await shrunk(text, environment);
        expect(small.fingerprint.key).toBe(fingerprint?.key);
        expect((await fingerprintIn(small.text, environment))?.key).toBe(fingerprint?.key);
        expect(await superfluous(small.text, small.fingerprint, environment)).toEqual([]);
        expect(small.steps).toBeLessThanOrEqual(5);
        expect((await shrunk(text, environment)).text).toBe(small.text);
      },
    );
    expect(failing).toBeGreaterThan(atLevel(10));
  });
});

describe("a scenario that would break an invariant with fewer steps", () => {
  it("keeps them, so that it fails in the same way", async () => {
    const environment = environmentIn("/nowhere", leaky);
    const text = `scenario: three offers
accounts: { alice: { USDC: 100 }, bob: { YES: 100 } }
steps:
  - bob: SELL 10 YES @ 0.50
  - bob: SELL 10 YES @ 0.50
  - bob: SELL 10 YES @ 0.50
  - bob: SELL 20 YES @ 0.50
  - alice: BUY 30 YES @ 0.50 as bid
  - expect: { orders: { bid: LIVE 5/30 } }
`;
    const { text: small, fingerprint } = await shrunk(text, environment);
    expect((await fingerprintIn(small, environment))?.key).toBe(fingerprint.key);
    expect(await superfluous(small, fingerprint, environment)).toEqual([]);
    expect(small).toBe(text.replace("  - bob: SELL 20 YES @ 0.50\n", ""));
  });
});
