const MINUTE_SECONDS = 60;

/** `20,000`. */
export const grouped = (number: number): string => String(number).replace(/\B(?=(?:\d{3})+$)/g, ",");

/** `1 order`, `2 orders`. */
export const count = (number: number, noun: string): string =>
  `${grouped(number)} ${noun}${number === 1 ? "" : "s"}`;

/** Milliseconds for a person: `0.8 ms`, `12 ms`, `1.2 s`, `2 min 5 s`. */
export function durationText(ms: number): string {
  if (Math.round(ms * 10) < 100) return `${ms.toFixed(1)} ms`;
  if (Math.round(ms) < 1000) return `${Math.round(ms)} ms`;
  if (Math.round(ms / 100) < 10 * MINUTE_SECONDS) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${grouped(Math.floor(seconds / MINUTE_SECONDS))} min ${seconds % MINUTE_SECONDS} s`;
}

/** A number of at most so many decimals, without zeros at their end and never with an exponent. */
export const decimalText = (number: number, places: number): string => {
  const text = number.toFixed(places);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
};
