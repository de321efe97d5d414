const REPLACEMENT = "\ufffd";

/** All that the production Char of XML 1.0 (section 2.2) leaves out. */
const FORBIDDEN = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
const LINE_BREAK = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/g;
/** Control characters, and those that change the direction of the text after them. */
const UNSEEN = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** A text as UTF-8 carries it: a lone surrogate becomes U+FFFD. */
export const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, REPLACEMENT);

/** A text whose lines stay; what XML 1.0 forbids, lone surrogates among it, becomes U+FFFD. */
export const printable = (text: string): string => text.replace(FORBIDDEN, REPLACEMENT);

/**
 * A text on one line, safe for a terminal: a line break or tab becomes a space; what else XML 1.0 forbids, a control
 * character or a change of direction becomes U+FFFD.
 */
export const visible = (text: string): string =>
  printable(text.replace(LINE_BREAK, " ").replaceAll("\t", " ")).replace(UNSEEN, REPLACEMENT);

/** A name or sentence on one line, without blanks at its ends. */
export const oneLine = (text: string): string => visible(text).trim();

/** What a scenario is called; never empty. */
export const title = (name: string): string => oneLine(name) || "(without a name)";
