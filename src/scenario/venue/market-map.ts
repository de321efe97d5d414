import type { ReplyTo } from "../../api/endpoints.ts";
import type { Outcome } from "../../core/terms.ts";

/** A market of an exchange. */
interface MarketRef {
  /** As the scenario calls it. */
  readonly name: string;
  readonly id: string;
  readonly conditionId: string;
  readonly tokens: Readonly<Record<Outcome, string>>;
  readonly isComplementary: boolean;
}

/** The markets of an exchange by the scenario's names, and back. */
export class MarketMap {
  readonly #byName = new Map<string, MarketRef>();
  readonly #byId = new Map<string, MarketRef>();

  add(market: MarketRef): void {
    this.#byName.set(market.name, market);
    this.#byId.set(market.id, market);
  }

  /** In the order in which they were added. */
  get names(): readonly string[] {
    return [...this.#byName.keys()];
  }

  /** @throws Error when there is none. */
  named(name: string): MarketRef {
    const found = this.#byName.get(name);
    if (found === undefined) throw new Error(`no market ${name}`);
    return found;
  }

  nameOf(id: string): string {
    return this.#byId.get(id)?.name ?? id;
  }

  /** The id of a token; of an unknown one, its own words. Without a market's name the first market's. */
  tokenId({ market, outcome }: { readonly market: string | null; readonly outcome: string }): string {
    const found = market === null ? [...this.#byName.values()][0] : this.#byName.get(market);
    const id = outcome === "YES" || outcome === "NO" ? found?.tokens[outcome] : undefined;
    return id ?? (market === null ? outcome : `${outcome} in ${market}`);
  }
}

/** A market as a reply describes it. */
export function marketRef(
  name: string,
  { id, conditionId, tokens, matching }: ReplyTo<"closeMarket">,
): MarketRef {
  const tokenOf = (of: Outcome): string => tokens.find(({ outcome }) => outcome === of)?.tokenId ?? "";
  const isComplementary = matching === "complementary";
  return { name, id, conditionId, tokens: { YES: tokenOf("YES"), NO: tokenOf("NO") }, isComplementary };
}
