/** V8 lets a part of at least this length point into the text that it was cut from. */
const SHORTEST_SLICE = 13;
const MOST_KEPT = 1000;

/**
 * The same text in memory of its own: whoever keeps a name that was cut from a file keeps no more of the file than
 * that. For ASCII only.
 */
export const ownText = (text: string): string =>
  text.length < SHORTEST_SLICE ? text : Buffer.from(text, "latin1").toString("latin1");

/** Makes names that come again and again their own once. */
export class OwnTexts {
  readonly #kept = new Map<string, string>();

  /** As `ownText`. */
  of(text: string): string {
    if (text.length < SHORTEST_SLICE) return text;
    const kept = this.#kept.get(text);
    if (kept !== undefined) return kept;
    if (this.#kept.size === MOST_KEPT) this.#kept.clear();
    const own = ownText(text);
    this.#kept.set(own, own);
    return own;
  }
}
