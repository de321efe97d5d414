import { parseDuration, parseIso } from "../../core/time.ts";

/** Words of the language with what newcomers write in their places, in capitals. */
const MEANT: ReadonlyMap<string, readonly string[]> = new Map([
  ["BUY", ["BID", "B", "LONG", "BUYS", "BOUGHT"]],
  ["SELL", ["ASK", "OFFER", "S", "SHORT", "SELLS", "SOLD"]],
  ["YES", ["Y"]],
  ["NO", ["N"]],
  ["GTC", ["LIMIT", "LMT"]],
  ["GTD", ["GTT", "DAY"]],
  ["FOK", ["AON"]],
  ["LIVE", ["OPEN", "NEW", "ACTIVE", "RESTING", "PENDING", "PLACED", "PARTIAL", "PARTIALLY_FILLED"]],
  ["MATCHED", ["FILLED", "FULLY_FILLED", "EXECUTED", "DONE", "TRADED", "CLOSED"]],
  ["CANCELED", ["CANCELLED", "CANCEL", "KILLED", "REMOVED"]],
  ["@", ["AT", "FOR", "X", "×", "PRICE"]],
  ["from", ["BY", "AGAINST", "WITH", "VS", "OF", "TO"]],
]);

/** The one of a few words that another stands for; undefined when it stands for none. */
export const meantWord = (word: string, possible: Iterable<string>): string | undefined =>
  [...possible].find((each) => MEANT.get(each)?.includes(word.toUpperCase()));

const THOUSANDS = /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/;

/** The number that a text almost is: `0,55`, `1,000`, `$0.55`, `55c`, `10x`; null when it is like none that is right. */
export function meantNumber(text: string, isRight: (text: string) => boolean): string | null {
  const plain = text.replace(/^[$x×]|(?:[$¢%c×x]|shares?)$/gi, "");
  const hundredths = /^\d{2}$/.test(plain) || (plain !== text && /^\d$/.test(plain));
  const candidates = [
    THOUSANDS.test(plain) ? plain.replaceAll(",", "") : plain,
    plain.replace(",", "."),
    plain.replaceAll("_", ""),
    plain.replace(/^[.,]/, "0."),
    plain.replace(/^(\d+)k$/i, "$1000"),
    hundredths ? `0.${plain.padStart(2, "0")}` : "",
  ];
  return candidates.find((each) => each !== text && isRight(each)) ?? null;
}

const UNITS = [
  [/^(?:ms|millis(?:econds?)?)$/, "ms"],
  [/^s(?:ec(?:ond)?s?)?$/, "s"],
  [/^m(?:in(?:ute)?s?)?$/, "m"],
  [/^h(?:r|our)?s?$/, "h"],
  [/^d(?:ay)?s?$/, "d"],
] as const;

/** The duration that a text almost is: `60`, `60 sec`, `+1hour`; null when it is like none. */
export function meantDuration(text: string): string | null {
  const plain = text.toLowerCase().replace(/^\+|\s/g, "");
  const spelled = plain.replace(/(\d+)([a-z]*)/g, (_, digits: string, unit: string) => {
    const known = unit === "" ? "s" : UNITS.find(([like]) => like.test(unit))?.[1];
    return `${digits}${known ?? "?"}`;
  });
  return spelled !== text && parseDuration(spelled) !== null ? spelled : null;
}

/** When an order expires, as a text almost says it: `60s`, `1hour`, `2026-01-02`; null when it is like none. */
export function meantExpiry(text: string): string | null {
  const duration = parseDuration(text) === null ? meantDuration(text) : text;
  if (duration !== null) return `+${duration}`;
  return [`${text}Z`, `${text}T00:00:00Z`].find((each) => parseIso(each) !== null) ?? null;
}
