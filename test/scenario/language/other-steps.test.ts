import { describe, expect, it } from "vitest";
import { BID, lastStep, ofSteps, ofTwoMarkets, scenarioOf } from "./scenario-texts.ts";

const GTD = "alice: BUY 10 YES @ 0.5 GTD +60s as bid";

describe("a step", () => {
  it.each([
    [
      "alice: fund 100.5 USDC",
      { kind: "fund", account: "alice", funding: { asset: "USDC", amount: 100_500_000 } },
    ],
    [
      "alice: fund 50 NO",
      { kind: "fund", funding: { asset: { market: null, outcome: "NO" }, amount: 5000 } },
    ],
    ["alice: cancel all", { kind: "cancelAll", account: "alice", expects: { rejects: null } }],
    ["advance: 1h30m", { kind: "advance", by: 5_400_000 }],
    ["advance: 0s", { kind: "advance", by: 0 }],
    ["at: 2026-01-01T00:05:00Z", { kind: "at", moment: { at: 1_767_225_900_000 } }],
    ["close: market", { kind: "close", market: null }],
    ["resolve: SPLIT", { kind: "resolve", market: null, outcome: "SPLIT" }],
    ["snapshot: before", { kind: "snapshot", name: "before" }],
    [
      "generate: { orders: 5000 }",
      { kind: "generate", orders: 5000, accounts: 20, profile: "balanced", market: null },
    ],
    [
      "generate: { orders: 1, accounts: 2, profile: bursts, in: market }",
      { accounts: 2, profile: "bursts", market: null },
    ],
    [
      "fault: { route: POST /order, status: 503, retryAfter: 2, probability: 0.25, times: 1, after: 0 }",
      {
        kind: "fault",
        fault: { route: "POST /order", status: 503, retryAfter: 2, probability: 0.25, times: 1, after: 0 },
      },
    ],
    ["fault: { drop: reply, latency: 200ms }", { fault: { drop: "reply", latency: "200ms" } }],
  ])("%s", (step, expected) => {
    expect(lastStep(ofSteps(step))).toMatchObject({ ...expected, text: step, number: 1 });
  });

  it.each([
    ["alice: fund 50 YES in snow", { funding: { asset: { market: "snow", outcome: "YES" }, amount: 5000 } }],
    ["close: rain", { market: "rain" }],
    ["resolve: YES in rain", { market: "rain", outcome: "YES" }],
    ["generate: { orders: 1, in: rain }", { market: "rain" }],
  ])("%s names one of several markets", (step, expected) => {
    expect(lastStep(ofTwoMarkets(step))).toMatchObject(expected);
  });

  it.each([
    ["at: expiry of bid", 0],
    ["at: expiry of bid - 1ms", -1],
    ["at: expiry of bid + 2s", 2000],
  ])("%s goes by an order's expiration", (step, offset) => {
    expect(lastStep(ofSteps(GTD, step))).toMatchObject({ kind: "at", moment: { expiryOf: "bid", offset } });
  });

  it("cancels an order named before, and says what becomes of it", () => {
    expect(lastStep(ofSteps(BID, "{ alice: cancel bid, status: CANCELED 0/10 USER }"))).toMatchObject({
      kind: "cancel",
      order: "bid",
      text: "alice: cancel bid",
      expects: { status: { value: { reason: "USER" } }, fills: null, rejects: null },
    });
  });

  it.each([
    ["{ alice: cancel any thing, rejects: ORDER_NOT_FOUND }", "any thing", "ORDER_NOT_FOUND"],
    ["{ alice: cancel bid, rejects: already matched }", "bid", "already matched"],
  ])("that is refused may cancel any text: %s", (step, name, rejects) => {
    expect(lastStep(ofSteps(step))).toMatchObject({ order: name, expects: { rejects: { value: rejects } } });
  });

  it("restores what was kept before", () => {
    expect(lastStep(ofSteps("snapshot: s", "restore: s"))).toMatchObject({ kind: "restore", name: "s" });
  });

  it("may go by an alias", () => {
    const text =
      "scenario: x\naccounts: { alice: {} }\nsteps:\n  - &buy { alice: BUY 10 YES @ 0.5 }\n  - *buy\n";
    const [first, second] = scenarioOf(text).steps;
    expect(second).toEqual({ ...first, number: 2 });
  });

  it.each<[what: string, first: string, second: string, places: (readonly [number, number])[]]>([
    ["all of them", "&all { orders: { bid: LIVE 0/10 } }", "*all", [[6, 13]]],
    ["one kind", "{ orders: &all { bid: LIVE 0/10 } }", "{ orders: *all }", [[6, 23]]],
    [
      "several",
      "&all { balances: { alice: { USDC: 5, YES: 0 } }, book: { YES: { bids: [] } } }",
      "*all",
      [
        [6, 13],
        [6, 13],
        [6, 13],
      ],
    ],
    [
      "what another alias stands for",
      "&all { balances: { alice: &a { USDC: 5 }, bob: *a } }",
      "*all",
      [
        [6, 13],
        [6, 13],
      ],
    ],
  ])("expects at the place of an alias what comes through it: %s", (_what, first, second, places) => {
    const step = lastStep(ofSteps(BID, `expect: ${first}`, `expect: ${second}`));
    const found = step.kind === "expect" ? step.expectations.map(({ place }) => place) : [];
    expect(found).toEqual(places.map(([line, column]) => ({ file: "x.yaml", line, column })));
  });

  it("says of its own outcome at the place of an alias what comes through it", () => {
    const own = (value: string): string => `{ ${BID.replace("bid", value.slice(1, 2))}, status: ${value} }`;
    const step = lastStep(ofSteps(own("&a LIVE 0/10"), "{ alice: BUY 10 YES @ 0.5, status: *a }"));
    expect(step).toMatchObject({ expects: { status: { place: { line: 5, column: 40 } } } });
  });

  it("has a text of one line without comments, at most 200 characters long", () => {
    const [short, long] = scenarioOf(
      `scenario: x\naccounts: { alice: {} }\nsteps:
  - expect: # first
      # the book
      book: { YES: { bids: [], asks: ["0.5 x 1"] } } # empty
  - expect: { trades: [${"alice BUY 10 YES @ 0.5 from alice, ".repeat(20)}] }\n`,
    ).steps;
    expect(short?.text).toBe('expect: book: { YES: { bids: [], asks: ["0.5 x 1"] } }');
    expect(long?.text).toHaveLength(200);
    expect(long?.text).toMatch(/^expect: \{ trades: \[alice BUY .*\.\.\.$/);
  });
});

describe("a race", () => {
  const race =
    "{ race: [{ bob: cancel bid }, { alice: BUY 1 YES @ 0.6 }], after: { orders: { bid: LIVE 0/10 } } }";

  it("holds its steps, numbered on, and what must be true after each order of them", () => {
    expect(lastStep(ofSteps(BID, race))).toMatchObject({
      kind: "race",
      number: 2,
      steps: [
        { kind: "cancel", number: 3 },
        { kind: "order", number: 4 },
      ],
      after: [{ kind: "order", name: "bid" }],
    });
  });

  it("is followed by the next number", () => {
    expect(lastStep(ofSteps(BID, race, "advance: 1s")).number).toBe(5);
  });

  it("may stand beside others as long as all go in at most 5040 orders", () => {
    const six = `race: [${"{ advance: 1s }, ".repeat(6)}]`;
    const three = `race: [${"{ advance: 1s }, ".repeat(3)}]`;
    expect(scenarioOf(ofSteps(six, three)).steps).toHaveLength(2);
  });
});

describe("a request that is tampered with", () => {
  const tampered = (tamper: string): unknown =>
    lastStep(
      ofSteps(`{ request: GET /orders?limit=5, as: alice, headers: { x-own: 1 }, tamper: ${tamper} }`),
    );
  const none = { sign: null, append: {}, twice: [], spell: [] };

  it.each<[tamper: string, expected: object]>([
    ["{ sign: /orders?limit=5 }", { ...none, sign: "/orders?limit=5" }],
    ["{ sign: '/trades?token_id={token YES}' }", { ...none, sign: "/trades?token_id={token YES}" }],
    [
      "{ append: { POLY_SIGNATURE: 00, x-own: ' ' } }",
      { ...none, append: { poly_signature: "00", "x-own": " " } },
    ],
    ["{ twice: poly_timestamp }", { ...none, twice: ["poly_timestamp"] }],
    [
      "{ twice: [host, X-Own], spell: POLY_API_KEY }",
      { ...none, twice: ["host", "X-Own"], spell: ["POLY_API_KEY"] },
    ],
  ])("%s", (tamper, expected) => {
    expect(tampered(tamper)).toMatchObject({ kind: "request", tamper: expected });
  });
});

describe("a request", () => {
  it.each([
    ["request: DELETE /order", { method: "DELETE", path: "/clob/order" }],
    ["request: GET /clob/book?token_id={token YES}", { path: "/clob/book?token_id={token YES}" }],
    ["request: GET /book?token_id={token market NO}", { path: "/clob/book?token_id={token market NO}" }],
    ["request: GET /api/markets", { path: "/api/markets" }],
    ["request: GET /sim/accounts/{address alice}", { path: "/sim/accounts/{address alice}" }],
    ["request: GET /apis", { path: "/clob/apis" }],
  ])("%s goes where it says, else below /clob", (step, expected) => {
    expect(lastStep(ofSteps(step))).toMatchObject({ kind: "request", as: null, headers: {}, ...expected });
  });

  it("has no body, no refusal and no answer that it does not say", () => {
    expect(lastStep(ofSteps("request: GET /time"))).toMatchObject({
      body: undefined,
      rejects: null,
      answers: null,
    });
  });

  it("says who signs it, its body, its headers and the answer", () => {
    const step = `{ request: POST /order, as: alice, body: { price: 0.5, size: 10, side: BUY, note: null, ok: true, list: ["1"] },
      headers: { poly_signature: null, x-twice: [a, b], poly_timestamp: 12 }, rejects: INVALID_SIGNATURE, answers: { status: 401 } }`;
    expect(lastStep(ofSteps(step))).toMatchObject({
      as: "alice",
      body: { price: 0.5, size: 10, side: "BUY", note: null, ok: true, list: ["1"] },
      headers: { poly_signature: null, "x-twice": ["a", "b"], poly_timestamp: "12" },
      rejects: { value: "INVALID_SIGNATURE", place: { line: 5, column: 88 } },
      answers: { value: { status: 401 } },
    });
  });

  it.each([
    [`'{"a": 1'`, '{"a": 1'],
    ["null", null],
    ["5", 5],
    ["-1.5e3", -1500],
    ["{ __proto__: { a: 1 } }", JSON.parse('{ "__proto__": { "a": 1 } }')],
  ])("may have the body %s", (body, value) => {
    const step = lastStep(ofSteps(`{ request: POST /order, body: ${body} }`));
    expect(step.kind === "request" && JSON.stringify(step.body)).toBe(JSON.stringify(value));
  });
});
