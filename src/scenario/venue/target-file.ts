import { parse, YAMLParseError } from "yaml";
import { unitsOf } from "../../api/decimals.ts";
import type { ReplyTo } from "../../api/endpoints.ts";
import { didYouMean } from "../../api/nearest.ts";
import { ExchangeClient } from "../../client/client.ts";
import { collect } from "../../client/result.ts";
import { decimalText, MONEY_PLACES, SIZE_PLACES } from "../../core/format.ts";
import { DocumentError, within } from "../../core/schema.ts";
import { anyOf } from "../../core/terms.ts";
import { FULL_PRICE, SHARE_UNITS } from "../../core/units.ts";
import { FILE_LIMITS, readFailure, readText } from "../../regular-file.ts";
import { isPrivateKey } from "../../simulation/world-accounts.ts";
import { assetText, type MarketTerms } from "../language/parts.ts";
import type { Scenario } from "../language/scenario.ts";

/** A wallet on a deployment, and its funds there. */
export interface TargetAccount {
  readonly privateKey: string;
  /** Existing credentials; null to derive new ones. */
  readonly credentials: {
    readonly apiKey: string;
    readonly secret: string;
    readonly passphrase: string;
  } | null;
  /** Units by `USDC`, `YES`, `NO`, or `rain YES`. */
  readonly funds: ReadonlyMap<string, number>;
}

/** Maps a scenario's markets to ids or slugs of a deployment, and its accounts to wallets. */
export type TargetFile = Readonly<ReturnType<typeof readTargetFile>>;

/** The wallets file cannot be used; the message is for the user and never contains a key. */
export class TargetFileError extends Error {
  override readonly name = "TargetFileError";
}

const SECRETS: readonly string[] = ["privateKey", "apiKey", "secret", "passphrase"];
const MAX_ALIASES = 100;
const VARIABLE = /^[A-Za-z_][A-Za-z\d_]{0,63}$/;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads a wallets file (YAML or JSON): `markets: { market: will-it-rain }` and
 * `accounts: { alice: { privateKey: 0x..., USDC: 1000 } }`. A secret written `$NAME` is read from the environment.
 * @throws TargetFileError
 */
export function readTargetFile(path: string, environment: Environment) {
  try {
    const whole = load(path);
    const { markets = {}, accounts = {} } = within("the file", () => requireKeys(whole));
    return {
      markets: within("markets", () => eachIn(markets, textIn)),
      accounts: within("accounts", () => eachIn(accounts, (value) => accountIn(value, environment))),
    };
  } catch (error) {
    // The value found is not shown, because it may be a key.
    const why =
      error instanceof DocumentError ? `${error.path}: expected ${error.expected}` : readFailure(error);
    throw new TargetFileError(`--wallets ${path}: ${why}`);
  }
}

/** Parses a file without the parser's warnings, which could show a key. */
function load(path: string): unknown {
  const text = readText(path, FILE_LIMITS.wallets);
  try {
    return parse(text, { maxAliasCount: MAX_ALIASES, intAsBigInt: true, logLevel: "error" });
  } catch (error) {
    throw new Error(whyNoYaml(error));
  }
}

/** Describes a syntax error without the parser's message, which quotes the file. */
function whyNoYaml(error: unknown): string {
  if (error instanceof YAMLParseError) {
    const [at] = error.linePos ?? [];
    return `no valid YAML${at === undefined ? "" : ` at line ${at.line}, column ${at.col}`} (${error.code})`;
  }
  return "no valid YAML: an alias leads nowhere, or too many do";
}

/** Returns a name for messages, or `(a name)` if it may be a key. */
const shown = (name: string): string =>
  /^[A-Za-z][\w -]{0,63}$/.test(name) && !/[\da-f-]{24}/i.test(name) ? name : "(a name)";

/** Returns a slug for messages, for the same reason; an id is not shown. */
const shownSlug = (slug: string): string =>
  /^[a-z\d]+(?:-[a-z\d]+)*$/.test(slug) && slug.length <= 128 && !/[\da-f-]{24}/.test(slug)
    ? JSON.stringify(slug)
    : "of that id";

const wrong = (expected: string, ...path: readonly string[]): DocumentError =>
  new DocumentError(expected, null, ...path);

function mappingIn(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong("a mapping");
  return value as Record<string, unknown>;
}

const KEYS = ["markets", "accounts"] as const;

function requireKeys(value: unknown): Partial<Readonly<Record<(typeof KEYS)[number], unknown>>> {
  const mapping = mappingIn(value);
  for (const key of Object.keys(mapping)) {
    if (KEYS.some((known) => known === key)) continue;
    throw wrong(`${anyOf(KEYS)}, found ${shown(key)}${didYouMean(key, KEYS)}`);
  }
  return mapping;
}

/** Reads each value of a mapping. */
const eachIn = <Value>(value: unknown, read: (value: unknown, key: string) => Value): Map<string, Value> =>
  new Map(
    Object.entries(mappingIn(value)).map(([key, each]) => [key, within(shown(key), () => read(each, key))]),
  );

function textIn(value: unknown): string {
  if (typeof value === "string" && value !== "") return value;
  throw wrong(`a text${typeof value === "bigint" ? ", in quotes" : ""}`);
}

function accountIn(value: unknown, environment: Environment): TargetAccount {
  const secrets = new Map<string, string>();
  const funds = new Map<string, number>();
  eachIn(value, (each, key) => {
    if (SECRETS.includes(key)) secrets.set(key, secretIn(each, environment));
    else funds.set(key, unitsIn(each, key));
  });
  const privateKey = secrets.get("privateKey") ?? "";
  if (!/^0x[0-9a-fA-F]{64}$/.test(privateKey) || !isPrivateKey(privateKey.slice(2).toLowerCase()))
    throw wrong(
      "0x and 64 hexadecimal digits in quotes, or $NAME of a variable that holds them",
      "privateKey",
    );
  const { apiKey, secret, passphrase } = Object.fromEntries(secrets);
  if (apiKey !== undefined && secret !== undefined && passphrase !== undefined)
    return { privateKey, credentials: { apiKey, secret, passphrase }, funds };
  if (secrets.size === 1) return { privateKey, credentials: null, funds };
  throw wrong("apiKey, secret and passphrase, or none of them");
}

function secretIn(value: unknown, environment: Environment): string {
  const text = textIn(value);
  if (!text.startsWith("$")) return text;
  const name = text.slice(1);
  if (!VARIABLE.test(name)) throw wrong("the name of a variable after $");
  const found = environment[name];
  if (found === undefined || found === "") throw wrong(`the variable ${name} to be set`);
  return found;
}

function unitsIn(value: unknown, asset: string): number {
  if (!/^(?:USDC|(?:\S+ )?(?:YES|NO))$/.test(asset))
    throw wrong('privateKey, apiKey, secret, passphrase, USDC, YES, NO or "market YES"');
  const units = unitsOf(String(value), placesOf(asset));
  if (units === null) throw wrong("an amount such as 1000");
  return units;
}

const placesOf = (asset: string): number => (asset === "USDC" ? MONEY_PLACES : SIZE_PLACES);

/**
 * Reads the time and each market of a wallets file from a deployment. If the connection is lost after the first answer, the
 * scenarios will fail.
 * @throws TargetFileError if the deployment does not answer; for an unknown market, with the nearest slug.
 */
export async function checkTarget(url: string, source: string, { markets }: TargetFile): Promise<void> {
  const client = new ExchangeClient(url);
  try {
    const time = await client.serverTime();
    if (!time.ok && time.error.status === null) throw new TargetFileError(`--target: ${time.error.message}`);
    for (const [name, idOrSlug] of markets) {
      const found = await client.market(idOrSlug);
      if (found.ok) continue;
      if (found.error.status === null) return;
      if (found.error.code !== "MARKET_NOT_FOUND") continue;
      const listed = await collect((window) => client.markets(window), { limit: 100 });
      const hint = didYouMean(idOrSlug, listed.ok ? listed.value.map(({ slug }) => slug) : []);
      throw new TargetFileError(
        `${source}: markets.${shown(name)}: there is no market ${shownSlug(idOrSlug)} at ${url}${hint}`,
      );
    }
  } finally {
    client.close();
  }
}

/** Returns what a scenario needs and the wallets file lacks; null if nothing. */
export function fileNeedOf({ accounts, markets }: Scenario, file: TargetFile): string | null {
  const missing = markets.find(({ name }) => !file.markets.has(name));
  if (missing !== undefined) return `needs market ${missing.name} in the wallets file`;
  for (const { name, funding } of accounts) {
    const account = file.accounts.get(name);
    if (account === undefined) return `needs account ${name} in the wallets file`;
    for (const { asset, amount } of funding) {
      const key = assetText(asset);
      const owned = account.funds.get(key) ?? 0;
      if (owned >= amount) continue;
      const text = (units: number): string => decimalText(units, placesOf(key));
      return `needs ${text(amount)} ${key} for ${name}, the wallets file gives ${text(owned)}`;
    }
  }
  return null;
}

/** Returns how a market differs from the one that the scenario needs; null if it is suitable. */
export function misfitOf(terms: MarketTerms, market: ReplyTo<"getMarket">): string | null {
  const wanted = {
    tickSize: terms.tickSize / FULL_PRICE,
    minOrderSize: terms.minOrderSize / SHARE_UNITS,
    feeRateBps: terms.feeRateBps,
    matching: terms.matching,
  };
  const found: Readonly<Record<string, unknown>> = market;
  const name = Object.entries(wanted).find(([key, value]) => found[key] !== value)?.[0];
  if (name !== undefined) return `${name} ${wanted[name as keyof typeof wanted]}, it has ${found[name]}`;
  return market.status === "ACTIVE" ? null : `status ACTIVE, it is ${market.status}`;
}
