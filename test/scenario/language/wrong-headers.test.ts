import { describe, expect, it } from "vitest";
import { problemsOf, withLine } from "./scenario-texts.ts";

describe("a file that", () => {
  it.each<[title: string, text: string, ...problems: string[]]>([
    ["is empty", "", "1:1: expected a scenario, a mapping, found nothing"],
    ["is only a comment", "# nothing\n", "1:1: expected a scenario, a mapping, found nothing"],
    ["is a list", "- a\n- b\n", "1:1: expected a scenario, a mapping, found a list"],
    ["is a text", "hello\n", '1:1: expected a scenario, a mapping, found "hello"'],
    ["has no scenario", "steps: [{ advance: 1s }]\n", "1:1: expected the key scenario, found none"],
    ["has no steps", "scenario: x\n", "1:1: expected the key steps, found none"],
    [
      "has an unknown key",
      "scenario: x\nacounts: {}\nsteps: [{ advance: 1s }]\n",
      '2:1: unknown key "acounts" (did you mean accounts?)',
    ],
    [
      "has a key that is like none",
      "scenario: x\nqwertyuiop: {}\nsteps: [{ advance: 1s }]\n",
      '2:1: unknown key "qwertyuiop"',
    ],
    [
      "has a key twice",
      "scenario: x\nseed: 1\nseed: 2\nsteps: [{ advance: 1s }]\n",
      '3:1: duplicate key "seed" (it stands in line 2 already)',
    ],
    [
      "has __proto__ for a key",
      "scenario: x\n__proto__: { a: 1 }\nsteps: [{ advance: 1s }]\n",
      '2:1: unknown key "__proto__"',
    ],
    [
      "has constructor for a key",
      "scenario: x\nconstructor: 1\nsteps: [{ advance: 1s }]\n",
      '2:1: unknown key "constructor"',
    ],
    [
      "has a merge key",
      "scenario: x\naccounts:\n  alice: &a { USDC: 1 }\n  bob:\n    <<: *a\nsteps: [{ advance: 1s }]\n",
      "5:5: merge keys (<<) are not part of the language (write the keys out)",
    ],
    [
      "has a list for a key",
      "scenario: x\n? [a]\n: b\nsteps: [{ advance: 1s }]\n",
      "2:3: expected a name before the colon, found a list",
    ],
    [
      "has two documents",
      "scenario: x\nsteps: [{ advance: 1s }]\n---\nscenario: y\n",
      "3:1: expected one document, found another one (put each scenario in a file of its own)",
    ],
    [
      "has a tag",
      "scenario: !!js/function 'x'\nsteps: [{ advance: 1s }]\n",
      "1:11: tags such as !!str are not part of the language (leave it out, and quote what is a text)",
    ],
    [
      "has a directive",
      "%YAML 1.1\n---\nscenario: x\nsteps: [{ advance: 1s }]\n",
      "1:1: directives such as %YAML are not part of the language",
    ],
    [
      "has an unknown alias",
      "scenario: x\nabout: &note hello\nseed: *nots\nsteps: [{ advance: 1s }]\n",
      '3:7: unknown anchor "nots" (did you mean note?)',
    ],
    [
      "is indented with a tab",
      "scenario: x\nsteps:\n\t- advance: 1s\n",
      "3:1: not YAML: tabs are not allowed as indentation (indent with spaces)",
    ],
    [
      "has lines that do not line up",
      "scenario: x\n  seed: 1\nsteps: [{ advance: 1s }]\n",
      "1:11: not YAML: nested mappings are not allowed in compact mappings (quote a text that contains a colon and a space)",
    ],
    ["has an open bracket", "scenario: x\nsteps: [{ advance: 1s }\n", "2:8: this [ is never closed"],
    [
      "has an open brace in an entry",
      "scenario: x\naccounts:\n  alice: { USDC: 100\n  bob: {}\nsteps: [{ advance: 1s }]\n",
      "3:10: this { is never closed",
    ],
    [
      "has an open brace within brackets",
      "scenario: x\nsteps: [{ advance: 1s ]\n",
      "2:9: this { is never closed",
    ],
    [
      "has two open braces",
      "scenario: x\naccounts:\n  alice: { USDC: 1\n  bob: { USDC: 1\nsteps: [{ advance: 1s }]\n",
      "3:10: this { is never closed",
      "4:8: this { is never closed",
    ],
    [
      "has a list behind its keys",
      "scenario: x\nseed: 1\n- advance: 1s\n",
      "3:1: not YAML: implicit keys need to be on a single line (write `key: value`, with a colon and a space)",
    ],
    ["has an open quote", "scenario: 'x\nsteps: []\n", "3:1: not YAML: missing closing 'quote"],
    [
      "has a key without a colon",
      "scenario: x\nseed\nsteps: [{ advance: 1s }]\n",
      "2:1: not YAML: implicit keys need to be on a single line (write `key: value`, with a colon and a space)",
    ],
    [
      "has a bad escape",
      'scenario: "a\\qb"\nsteps: [{ advance: 1s }]\n',
      "1:13: not YAML: invalid escape sequence \\q (write a backslash twice, or use single quotes)",
    ],
    ["has a NUL", "scenario: x\nseed: a\0b\n", "2:8: expected text, found the control character U+0000"],
  ])("%s is told where and why", (_title, text, ...problems) => {
    expect(problemsOf(text)).toEqual(problems.map((problem) => `x.yaml:${problem}`));
  });
});

describe("a header that", () => {
  it.each<[title: string, text: string, ...problems: string[]]>([
    [
      "has an empty name",
      "scenario:\nsteps: [{ advance: 1s }]\n",
      "1:10: expected a name of 1 to 200 characters on one line, found nothing",
    ],
    [
      "has a name of two lines",
      'scenario: "a\\nb"\nsteps: [{ advance: 1s }]\n',
      '1:11: expected a name of 1 to 200 characters on one line, found "a\\nb"',
    ],
    [
      "has a list for a name",
      "scenario: [a]\nsteps: [{ advance: 1s }]\n",
      "1:11: expected a name of 1 to 200 characters on one line, found a list",
    ],
    [
      "has a name that is too long",
      `scenario: ${"x".repeat(201)}\nsteps: [{ advance: 1s }]\n`,
      '1:11: expected a name of 1 to 200 characters on one line, found "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..."',
    ],
    [
      "has a seed of more digits than a number keeps",
      withLine("seed: 12345678901234567"),
      "2:7: expected at most 15 digits, found 17 (quote it)",
    ],
    [
      "has a mapping for a seed",
      withLine("seed: {}"),
      "2:7: expected a text of 1 to 128 characters on one line, found a mapping",
    ],
    [
      "has a clock without a zone",
      withLine("clock: 2026-01-01T00:00:00"),
      '2:8: expected a moment such as 2026-01-01T00:00:00Z, found "2026-01-01T00:00:00"',
    ],
    [
      "has a day that does not exist",
      withLine("clock: 2026-02-30T00:00:00Z"),
      '2:8: expected a moment such as 2026-01-01T00:00:00Z, found "2026-02-30T00:00:00Z"',
    ],
    ["has a mapping for about", withLine("about: { a: 1 }"), "2:8: expected some text, found a mapping"],
    [
      "has both market and markets",
      withLine("market: {}\nmarkets: { rain: {} }"),
      "3:1: expected one of market, markets and world, found market and markets",
    ],
    [
      "has both world and market",
      withLine("world: w.json\nmarket: {}"),
      "2:1: expected one of market, markets and world, found market and world",
    ],
    [
      "has a tick size that no market has",
      withLine("market: { tickSize: 0.02 }"),
      '2:21: expected 0.1, 0.01, 0.005, 0.0025, 0.001 or 0.0001, found "0.02"',
    ],
    [
      "has a minimum of nothing",
      withLine("market: { minOrderSize: 0 }"),
      '2:25: expected a size from 0.01 to 10000000 with at most 2 decimals, found "0"',
    ],
    [
      "has a fee above everything",
      withLine("market: { feeRateBps: 10001 }"),
      '2:23: expected a number of basis points from 0 to 10000, found "10001"',
    ],
    [
      "has an unknown way of matching",
      withLine("market: { matching: complimentary }"),
      '2:21: expected complementary or independent, found "complimentary" (did you mean complementary?)',
    ],
    [
      "has an unknown policy",
      withLine("market: { selfTrade: cancel-makers }"),
      '2:22: expected allow, cancel-taker, cancel-maker or cancel-both, found "cancel-makers" (did you mean cancel-maker?)',
    ],
    ["has an unknown term", withLine("market: { tick: 0.01 }"), '2:11: unknown key "tick"'],
    [
      "has a mistyped term",
      withLine("market: { ticksize: 0.01 }"),
      '2:11: unknown key "ticksize" (did you mean tickSize?)',
    ],
    [
      "has a market whose name is no slug",
      withLine("markets: { Rain: {} }"),
      '2:12: expected a market\'s name: lower-case words and digits joined by hyphens, at most 64 characters, found "Rain"',
    ],
    ["has no market at all", withLine("markets: {}"), "2:10: expected at least one market, found none"],
    [
      "has an account named like a step",
      "scenario: x\naccounts: { at: {} }\nsteps: [{ advance: 1s }]\n",
      "2:13: at is a word of the language and cannot name an account",
    ],
    [
      "has an account named like a key beside",
      "scenario: x\naccounts: { status: {} }\nsteps: [{ advance: 1s }]\n",
      "2:13: status is a word of the language and cannot name an account",
    ],
    [
      "has an account whose name is none",
      "scenario: x\naccounts: { 'al ice': {} }\nsteps: [{ advance: 1s }]\n",
      '2:13: expected a name: a letter, then letters, digits, _ and -, at most 64, found "al ice"',
    ],
    [
      "funds with an unknown asset",
      "scenario: x\naccounts: { alice: { USD: 5 } }\nsteps: [{ advance: 1s }]\n",
      '2:22: expected USDC, YES or NO, with the market before it where there are several, found "USD" (did you mean USDC?)',
    ],
    [
      "funds with a fraction of a unit",
      "scenario: x\naccounts: { alice: { YES: 0.001 } }\nsteps: [{ advance: 1s }]\n",
      '2:27: expected a number of shares from 0 to 4000000000 with at most 2 decimals, found "0.001"',
    ],
    [
      "funds with a debt",
      "scenario: x\naccounts: { alice: { USDC: -5 } }\nsteps: [{ advance: 1s }]\n",
      '2:28: expected an amount of USDC from 0 to 4000000000 with at most 6 decimals, found "-5"',
    ],
    [
      "funds the same asset twice",
      "scenario: x\naccounts: { alice: { YES: 5, market YES: 6 } }\nsteps: [{ advance: 1s }]\n",
      "2:30: market YES is given twice",
    ],
    [
      "funds shares of no market where there are several",
      "scenario: x\nmarkets: { rain: {}, snow: {} }\naccounts: { alice: { YES: 5 } }\nsteps: [{ advance: 1s }]\n",
      "3:22: expected the market to be named, for there are rain, snow",
    ],
    [
      "has a list of accounts",
      "scenario: x\naccounts: [alice]\nsteps: [{ alice: cancel all }]\n",
      "2:11: expected accounts by name, a mapping, found a list",
    ],
  ])("%s is told where and why", (_title, text, ...problems) => {
    expect(problemsOf(text)).toEqual(problems.map((problem) => `x.yaml:${problem}`));
  });
});
