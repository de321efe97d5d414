import { parseDuration, parseIso } from "../../core/time.ts";

/** Words of the language, each with the words that newcomers write instead, in capitals. */
const SYNONYMS: ReadonlyMap<string, readonly string[]> = new Map([
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

/** Returns the possible word that another is a synonym of; undefined if it is none. */
export const meantWord = (word: string, possible: Iterable<string>): string | undefined =>
  [...possible].find((each) => SYNONYMS.get(each)?.includes(word.toUpperCase()));

const THOUSANDS = /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/;

/** Returns the valid number that was meant by `0,55`, `1,000`, `+10`, `$0.55`, `55c` or `10x`; null if there is none. */
export function meantNumber(text: string, isRight: (text: string) => boolean): string | null {
  const plain = text.replace(/^[+$x×]|(?:[$¢%c×x]|shares?)$/gi, "");
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

/** Returns the duration that was meant by `60`, `60 sec` or `+1hour`; null if there is none. */
export function meantDuration(text: string): string | null {
  const plain = text.toLowerCase().replace(/^\+|\s/g, "");
  const spelled = plain.replace(/(\d+)([a-z]*)/g, (_, digits: string, unit: string) => {
    const known = unit === "" ? "s" : UNITS.find(([like]) => like.test(unit))?.[1];
    return `${digits}${known ?? "?"}`;
  });
  return spelled !== text && parseDuration(spelled) !== null ? spelled : null;
}

/** Returns the expiration that was meant by `60s`, `1hour` or `2026-01-02`; null if there is none. */
export function meantExpiry(text: string): string | null {
  const duration = parseDuration(text) === null ? meantDuration(text) : text;
  if (duration !== null) return `+${duration}`;
  return [`${text}Z`, `${text}T00:00:00Z`].find((each) => parseIso(each) !== null) ?? null;
}
