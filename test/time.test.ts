import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseDuration, parseIso, toIso } from "../src/core/time.ts";
import { MAX_MILLIS, type Millis, millis } from "../src/core/units.ts";
import { forAll, runs } from "./support/runs.ts";

const moment: fc.Arbitrary<Millis> = fc.integer({ min: 0, max: MAX_MILLIS }).map(millis);
const pad = (value: number, width = 2): string => String(value).padStart(width, "0");

describe("a time", () => {
  it("has the same text as Date, and is read from it, for all times of four-digit years", () => {
    forAll(runs(10_000), [moment], (at) => {
      expect(toIso(at)).toBe(new Date(at).toISOString());
      expect(parseIso(toIso(at))).toBe(at);
    });
  });

  it("has the same text as Date on each day of four centuries", () => {
    for (let day = 0; day < 146_097; day += 1) {
      const at = millis(day * 86_400_000);
      if (toIso(at) !== new Date(at).toISOString()) expect.fail(`day ${day}: ${toIso(at)}`);
    }
  });
});

describe("parsing a time", () => {
  it("agrees with Date on every well-formed text, and refuses dates that Date rolls over", () => {
    const numbers = fc.tuple(
      fc.integer({ min: 1970, max: 9999 }),
      fc.integer({ min: 0, max: 13 }),
      fc.integer({ min: 0, max: 32 }),
      fc.integer({ min: 0, max: 25 }),
      fc.integer({ min: 0, max: 61 }),
      fc.integer({ min: 0, max: 61 }),
    );
    const fraction = fc.constantFrom("", ".1", ".12", ".123", ".007", ".123456", ".999999999");
    const zone = fc.oneof(
      fc.constant("Z"),
      fc
        .tuple(fc.constantFrom("+", "-"), fc.integer({ min: 0, max: 25 }), fc.integer({ min: 0, max: 61 }))
        .map(([sign, hours, minutes]) => `${sign}${pad(hours)}:${pad(minutes)}`),
    );
    forAll(
      runs(40_000),
      [numbers, fraction, zone],
      ([year, month, day, hour, minute, second], tail, offset) => {
        const date = `${pad(year, 4)}-${pad(month)}-${pad(day)}`;
        const text = `${date}T${pad(hour)}:${pad(minute)}:${pad(second)}${tail}${offset}`;
        const oracle = new Date(text).getTime();
        const rolled = new Date(`${date}T00:00:00Z`);
        const valid = !Number.isNaN(oracle) && !Number.isNaN(rolled.getTime());
        const kept = valid && rolled.toISOString().startsWith(date) && hour < 24;
        const expected = kept && oracle >= 0 && oracle <= MAX_MILLIS ? oracle : null;
        expect(parseIso(text), text).toBe(expected);
      },
    );
  });

  it.each([
    ["2026-01-01T00:00Z", 1_767_225_600_000],
    ["2026-01-01T00:00:00.5Z", 1_767_225_600_500],
    ["2000-02-29T00:00:00Z", 951_782_400_000],
  ])("reads %s", (text, at) => {
    expect(parseIso(text)).toBe(at);
  });

  it.each([
    ...["2026-01-01T00:00:00", "2026-01-01", "00:00:00Z", "1767225600", ""],
    // Another way of writing.
    ...["2026-01-01 00:00:00Z", "2026-01-01t00:00:00z", "on 2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z\n"],
    ...["2026-01-01T00:00:00.1234567891Z", "2026-01-01T00:00:00.Z", "２０２６-01-01T00:00:00Z"],
    ...["2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00+0100", "10000-01-01T00:00:00Z"],
    // No such date.
    ...["2026-02-30T00:00:00Z", "2026-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "2026-04-31T00:00:00Z"],
    ...["2026-00-01T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-00T00:00:00Z"],
    // No such time, a leap second included.
    ...["2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2016-12-31T23:59:60Z"],
    // Before 1970 or after 9999, also by the zone.
    ...["1969-12-31T23:59:59Z", "1970-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00"],
  ])("refuses %j", (text) => {
    expect(parseIso(text)).toBeNull();
  });
});

describe("parsing a duration", () => {
  it.each(
    Object.entries({
      ...{ "500ms": 500, "90s": 90_000, "5m": 300_000, "2h": 7_200_000, "1d": 86_400_000 },
      ...{ "1h30m": 5_400_000, "1d2h3m4s5ms": 93_784_005, "0s": 0 },
    }),
  )("reads %s", (text, length) => {
    expect(parseDuration(text)).toBe(length);
  });

  it.each(["", "90", "s", "1.5h", "-1s", "1h 30m", "30m1h", "1s1s", "1w", "1S", "999999999999d", "1s\n"])(
    "refuses %j",
    (text) => {
      expect(parseDuration(text)).toBeNull();
    },
  );
});
