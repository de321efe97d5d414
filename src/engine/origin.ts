import type { Config } from "../config.ts";
import { DocumentError } from "../core/document/document-error.ts";
import { readDocument } from "../core/document/parse-document.ts";
import type { ExchangeConfig } from "../core/state.ts";
import type { Address } from "../core/terms.ts";
import { toIso } from "../core/time.ts";
import type { Millis } from "../core/units.ts";
import type { Exchange } from "../engine/exchange.ts";
import type { Base, OpeningData } from "../engine/journal-line.ts";
import { HistoryDigest } from "../engine/state-hash.ts";
import { readBeginning, type StateHeader } from "../engine/state-header.ts";
import { wrongLine } from "../engine/store-error.ts";
import { ConfigError } from "../setting.ts";
import { openWorld, WorldOpeningError } from "../simulation/open-world.ts";
import type { World } from "../simulation/world.ts";
import { WorldFileError } from "../simulation/world-checks.ts";
import { checkedWorld } from "../simulation/world-file.ts";

/** Where an exchange begins, before anybody has done anything. */
export interface Origin {
  readonly config: ExchangeConfig;
  readonly start: Millis;
  readonly devAccounts: readonly Address[];
  /** The same as a journal's first line has it. */
  readonly base: Base;
  /** Brings an exchange of this config there, as often as wanted. @throws ConfigError when it cannot. */
  readonly play: (exchange: Exchange) => void;
}

/** A world's history, played up to a start. */
export function originOfWorld(world: World, config: ExchangeConfig, start: Millis): Origin {
  const { devAccounts } = world;
  const play = (exchange: Exchange): void => {
    exchange.restart(start);
    try {
      openWorld(exchange, world, start);
    } catch (error) {
      throw error instanceof WorldOpeningError ? new ConfigError(error.message) : error;
    }
  };
  return { config, start, devAccounts, base: { kind: "world", content: world }, play };
}

/** A document of a state, with its place in a history. */
export interface StateDocument {
  readonly clobsim: Pick<StateHeader, "format" | "now" | "sequence" | "devAccounts">;
}

/** A state that goes on from where it stood. @throws DocumentError when it is no state of any exchange. */
export function originOfState(document: StateDocument): Origin {
  const { now, sequence, devAccounts } = readBeginning(document.clobsim);
  const { state } = readDocument(document);
  const digest = HistoryDigest.of(state).text;
  const play = (exchange: Exchange): void =>
    exchange.restore({ state, now, sequence, digest, mark: undefined });
  return { config: state.config, start: now, devAccounts, base: { kind: "state", content: document }, play };
}

/** The origin that a journal begins with. @throws StoreError when its first line holds none that can be opened */
export function originOf({ base: { kind, content }, config, start }: OpeningData, path: string): Origin {
  const origin = demandOrigin(path, () =>
    kind === "world"
      ? originOfWorld(checkedWorld(content) && (content as World), config, start)
      : originOfState(content as StateDocument),
  );
  return { ...origin, play: (exchange) => demandOrigin(path, () => origin.play(exchange)) };
}

function demandOrigin<Value>(path: string, find: () => Value): Value {
  try {
    return find();
  } catch (error) {
    const isOfContent =
      error instanceof WorldFileError || error instanceof DocumentError || error instanceof ConfigError;
    throw isOfContent ? wrongLine(path, 1, `d.base.content: ${error.message}`) : error;
  }
}

/** What decides the rules of an exchange, as it is configured. */
export const termsOf = (
  { faucet, credentials, settlement, balances }: Config,
  seed: string,
): ExchangeConfig => ({ seed, faucet, credentials, settlement, balances });

/**
 * @param load what is asked for now, as it would be opened if nothing were kept yet.
 * @throws ConfigError when something is asked for that an exchange, once it was opened, cannot become.
 */
export async function demandSameOrigin(
  config: Config,
  origin: Origin,
  path: string,
  load: () => Promise<Origin>,
): Promise<void> {
  demandSameTerms(config, origin, path);
  for (const flag of ["world", "markets"]) {
    if (!config.given.has(flag) || sameContent((await load()).base, origin.base)) continue;
    throw new ConfigError(`${path} was made from another world than --${flag} asks for: ${REMEDY}`);
  }
}

/** @throws ConfigError when other terms are given than those of the exchange that `path` holds. */
export function demandSameTerms(
  config: Config,
  { config: kept, start }: Origin,
  path: string,
  remedy = REMEDY,
): void {
  const terms: readonly (readonly [flag: string, asked: unknown, kept: unknown])[] = [
    ["seed", config.seed, kept.seed],
    ["settlement", config.settlement, kept.settlement],
    ["balances", config.balances, kept.balances],
    ["credentials", config.credentials, kept.credentials],
    ["faucet", config.faucet.everyMarket / SIZE_UNITS, kept.faucet.everyMarket / SIZE_UNITS],
    ["start", config.start === null ? null : toIso(config.start), toIso(start)],
  ];
  for (const [flag, asked, found] of terms) {
    if (!config.given.has(flag) || asked === found) continue;
    throw new ConfigError(`${path} was made with --${flag} ${found}, found --${flag} ${asked}: ${remedy}`);
  }
}

const SIZE_UNITS = 100;
const REMEDY = "leave it out, give another directory with --data, or start anew with --reset";

const sameContent = (a: Base, b: Base): boolean => JSON.stringify(a) === JSON.stringify(b);
