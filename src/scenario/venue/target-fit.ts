import { nearest } from "../../api/nearest.ts";
import { ExchangeClient } from "../../client/client.ts";
import type { MarketDetail } from "../../client/messages.ts";
import { collect } from "../../client/pages.ts";
import { PRICE_PLACES, SIZE_PLACES, textOf } from "../../core/format.ts";
import type { MarketTerms, Scenario } from "../language/scenario.ts";
import { shown, shownSlug, type TargetFile, TargetFileError } from "./target-file.ts";

/**
 * Looks for each market of a wallets file on the deployment. One that does not answer is left to the scenarios, which
 * fail there.
 * @throws TargetFileError naming the nearest slug.
 */
export async function checkMarkets(url: string, source: string, { markets }: TargetFile): Promise<void> {
  const client = new ExchangeClient(url);
  try {
    for (const [name, idOrSlug] of markets) {
      const found = await client.market(idOrSlug);
      if (found.ok) continue;
      if (found.error.status === null) return;
      if (found.error.code !== "MARKET_NOT_FOUND") continue;
      const listed = await collect((window) => client.markets(window), { limit: 100 });
      const like = nearest(idOrSlug, listed.ok ? listed.value.map(({ slug }) => slug) : []);
      const hint = like === undefined ? "" : `, did you mean ${like}?`;
      throw new TargetFileError(
        `${source}: markets.${shown(name)}: there is no market ${shownSlug(idOrSlug)} at ${url}${hint}`,
      );
    }
  } finally {
    client.close();
  }
}

/** What the wallets file must have for a scenario and has not; null when it has all. */
export function fileNeedOf({ accounts, markets }: Scenario, file: TargetFile | null): string | null {
  if (file === null) return "needs --wallets: a file with wallets, markets and funds";
  const lost = markets.find(({ name }) => !file.markets.has(name));
  if (lost !== undefined) return `needs market ${lost.name} in the wallets file`;
  for (const { name, funding } of accounts) {
    const account = file.accounts.get(name);
    if (account === undefined) return `needs account ${name} in the wallets file`;
    for (const { asset, amount } of funding) {
      const isMoney = asset === "USDC";
      const key = isMoney
        ? asset
        : asset.market === null
          ? asset.outcome
          : `${asset.market} ${asset.outcome}`;
      const owned = account.funds.get(key) ?? 0;
      if (owned >= amount) continue;
      const text = (units: number): string => textOf(units, isMoney ? 6 : SIZE_PLACES);
      return `needs ${text(amount)} ${key} for ${name}, the wallets file gives ${text(owned)}`;
    }
  }
  return null;
}

/** In what a market differs from the one the scenario needs; null when in nothing that matters. */
export function misfitOf(terms: MarketTerms, market: MarketDetail): string | null {
  const wanted = {
    tickSize: Number(textOf(terms.tickSize, PRICE_PLACES)),
    minOrderSize: Number(textOf(terms.minOrderSize, SIZE_PLACES)),
    feeRateBps: terms.feeRateBps,
    matching: terms.matching,
  };
  const found: Readonly<Record<string, unknown>> = market;
  const name = Object.entries(wanted).find(([key, value]) => found[key] !== value)?.[0];
  if (name !== undefined) return `${name} ${wanted[name as keyof typeof wanted]}, it has ${found[name]}`;
  return market.status === "ACTIVE" ? null : `status ACTIVE, it is ${market.status}`;
}
