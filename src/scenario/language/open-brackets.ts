import { CST } from "yaml";
import type { YamlFault } from "./yaml-fault.ts";

const PARTNERS: ReadonlyMap<string, string> = new Map([
  ["}", "{"],
  ["]", "["],
]);

/** The brackets that are open, as the signs of a text come one after the other. */
export class OpenBrackets {
  readonly #open: { readonly sign: string; readonly at: number }[] = [];

  /** Takes the next sign; a fault when some bracket is not closed where it should be. */
  take(sign: string, at: number): YamlFault | null {
    if (sign === "{" || sign === "[") this.#open.push({ sign, at });
    else if (sign === CST.FLOW_END) return this.end();
    else {
      const partner = PARTNERS.get(sign);
      if (partner !== undefined) return this.#close(partner);
    }
    return null;
  }

  /** Closes the last bracket of a kind, and with it those within, of which the innermost is at fault. */
  #close(sign: string): YamlFault | null {
    const last = this.#open.at(-1);
    const index = this.#open.findLastIndex((bracket) => bracket.sign === sign);
    this.#open.length = index < 0 ? Math.max(0, this.#open.length - 1) : index;
    return last === undefined || last.sign === sign ? null : neverClosed(last);
  }

  /** A fault when some bracket is still open where none can be: of several the innermost. */
  end(): YamlFault | null {
    const last = this.#open.at(-1);
    this.#open.length = 0;
    return last === undefined ? null : neverClosed(last);
  }
}

const neverClosed = ({ sign, at }: { readonly sign: string; readonly at: number }): YamlFault => ({
  at,
  message: `this ${sign} is never closed`,
  hint: null,
});
