import { parse, YAMLParseError } from "yaml";
import { unitsOf } from "../../api/decimals.ts";
import type { ReplyTo } from "../../api/endpoints.ts";
import { nearest } from "../../api/nearest.ts";
import { ExchangeClient } from "../../client/client.ts";
import { collect } from "../../client/pages.ts";
import { MONEY_PLACES, PRICE_PLACES, SIZE_PLACES, textOf } from "../../core/format.ts";
import { FILE_LIMITS, readText, whyUnread } from "../../regular-file.ts";
import type { MarketTerms } from "../language/parts.ts";
import type { Scenario } from "../language/scenario.ts";

/** A wallet on a deployment, and what it owns there. */
export interface TargetAccount {
  readonly privateKey: string;
  /** Credentials derived before; null derives new ones. */
  readonly credentials: {
    readonly apiKey: string;
    readonly secret: string;
    readonly passphrase: string;
  } | null;
  /** Units by `USDC`, `YES`, `NO`, or `rain YES`. */
  readonly funds: ReadonlyMap<string, number>;
}

/** What a scenario's names stand for on a deployment: markets for ids or slugs there, accounts for wallets. */
export type TargetFile = Readonly<ReturnType<typeof readTargetFile>>;

/** A wallets file that cannot be used; the message is a sentence for the user and never repeats a key. */
export class TargetFileError extends Error {
  override readonly name = "TargetFileError";
}

const SECRETS = ["privateKey", "apiKey", "secret", "passphrase"] as const;
const MAX_ALIASES = 100;
const VARIABLE = /^[A-Za-z_][A-Za-z\d_]{0,63}$/;
/** n of secp256k1 (SEC 2, section 2.4.1): private keys are from 1 to n - 1. */
const GROUP_ORDER = 0xffffffff_ffffffff_ffffffff_fffffffe_baaedce6_af48a03b_bfd25e8c_d0364141n;

/**
 * Reads a wallets file (YAML or JSON): `markets: { market: will-it-rain }` and
 * `accounts: { alice: { privateKey: 0x..., USDC: 1000 } }`. A secret written `$NAME` is read from the environment.
 * @throws TargetFileError
 */
export function readTargetFile(path: string, environment: Readonly<Record<string, string | undefined>>) {
  const file = new Reader(path, environment);
  const whole = file.object(load(path), "the file", ["markets", "accounts"]);
  const markets = new Map<string, string>();
  for (const [name, value] of Object.entries(file.object(whole.markets ?? {}, "markets"))) {
    markets.set(name, file.text(value, `markets.${shown(name)}`));
  }
  const accounts = new Map<string, TargetAccount>();
  for (const [name, value] of Object.entries(file.object(whole.accounts ?? {}, "accounts"))) {
    const where = `accounts.${shown(name)}`;
    accounts.set(name, file.account(file.object(value, where), where));
  }
  return { markets, accounts };
}

/** What a file holds; a warning of the parser would show the line, and with it a key. */
function load(path: string): unknown {
  const text = textIn(path);
  try {
    return parse(text, { maxAliasCount: MAX_ALIASES, intAsBigInt: true, logLevel: "error" });
  } catch (error) {
    throw new TargetFileError(`--wallets ${path}: ${whyNoYaml(error)}`);
  }
}

function textIn(path: string): string {
  try {
    return readText(path, FILE_LIMITS.wallets);
  } catch (error) {
    throw new TargetFileError(`--wallets ${path}: ${whyUnread(error)}`);
  }
}

/** Without the parser's own words, which repeat what stands in the file. */
function whyNoYaml(error: unknown): string {
  if (error instanceof YAMLParseError) {
    const [at] = error.linePos ?? [];
    return `no valid YAML${at === undefined ? "" : ` at line ${at.line}, column ${at.col}`} (${error.code})`;
  }
  return "no valid YAML: an alias leads nowhere, or too many do";
}

/** A name as it may be shown: a key that stands where a name belongs is not. */
const shown = (name: string): string =>
  /^[A-Za-z][\w -]{0,63}$/.test(name) && !/[\da-f-]{24}/i.test(name) ? name : "(a name)";

/** A slug as it may be shown, for the same reason; a market's id is not. */
const shownSlug = (slug: string): string =>
  /^[a-z\d]+(?:-[a-z\d]+)*$/.test(slug) && slug.length <= 128 && !/[\da-f-]{24}/.test(slug)
    ? JSON.stringify(slug)
    : "of that id";

class Reader {
  readonly #path: string;
  readonly #environment: Readonly<Record<string, string | undefined>>;

  constructor(path: string, environment: Readonly<Record<string, string | undefined>>) {
    this.#path = path;
    this.#environment = environment;
  }

  object(value: unknown, where: string, known?: readonly string[]): Record<string, unknown> {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw this.#wrong(`${where}: expected a mapping`);
    }
    const object = value as Record<string, unknown>;
    const unknown = Object.keys(object).find((key) => known !== undefined && !known.includes(key));
    if (unknown === undefined) return object;
    const like = nearest(unknown, known ?? []);
    throw this.#wrong(
      `${where}: unknown key ${shown(unknown)}${like === undefined ? "" : `, did you mean ${like}?`}`,
    );
  }

  text(value: unknown, where: string): string {
    if (typeof value === "string" && value !== "") return value;
    throw this.#wrong(`${where}: expected a text${typeof value === "bigint" ? ", in quotes" : ""}`);
  }

  account(object: Record<string, unknown>, where: string): TargetAccount {
    const secrets = new Map<string, string>();
    const funds = new Map<string, number>();
    for (const [key, value] of Object.entries(object)) {
      const place = `${where}.${shown(key)}`;
      if (SECRETS.some((secret) => secret === key)) secrets.set(key, this.#secret(value, place));
      else funds.set(key, this.#units(value, key, place));
    }
    const privateKey = secrets.get("privateKey") ?? "";
    if (!isPrivateKey(privateKey)) {
      throw this.#wrong(
        `${where}.privateKey: expected 0x and 64 hexadecimal digits in quotes, or $NAME of a variable that holds them`,
      );
    }
    const [apiKey, secret, passphrase] = SECRETS.slice(1).map((key) => secrets.get(key));
    if (apiKey === undefined || secret === undefined || passphrase === undefined) {
      if (secrets.size === 1) return { privateKey, credentials: null, funds };
      throw this.#wrong(`${where}: expected apiKey, secret and passphrase, or none of them`);
    }
    return { privateKey, credentials: { apiKey, secret, passphrase }, funds };
  }

  #secret(value: unknown, where: string): string {
    const text = this.text(value, where);
    if (!text.startsWith("$")) return text;
    const name = text.slice(1);
    if (!VARIABLE.test(name)) throw this.#wrong(`${where}: expected the name of a variable after $`);
    const found = this.#environment[name];
    if (found === undefined || found === "") throw this.#wrong(`${where}: the variable ${name} is not set`);
    return found;
  }

  #units(value: unknown, asset: string, where: string): number {
    if (!/^(?:USDC|(?:\S+ )?(?:YES|NO))$/.test(asset)) {
      throw this.#wrong(
        `${where}: expected privateKey, apiKey, secret, passphrase, USDC, YES, NO or "market YES"`,
      );
    }
    const units = unitsOf(String(value), asset === "USDC" ? MONEY_PLACES : SIZE_PLACES);
    if (units === null) throw this.#wrong(`${where}: expected an amount such as 1000`);
    return units;
  }

  #wrong(message: string): TargetFileError {
    return new TargetFileError(`--wallets ${this.#path}: ${message}`);
  }
}

function isPrivateKey(text: string): boolean {
  if (!/^0x[0-9a-fA-F]{64}$/.test(text)) return false;
  const number = BigInt(text);
  return number > 0n && number < GROUP_ORDER;
}

/**
 * Asks a deployment for its time, and for each market of a wallets file. One that is lost meanwhile is left to the
 * scenarios, which fail there.
 * @throws TargetFileError when nobody answers; for a market that it does not have, naming the nearest slug.
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
export function fileNeedOf({ accounts, markets }: Scenario, file: TargetFile): string | null {
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
export function misfitOf(terms: MarketTerms, market: ReplyTo<"getMarket">): string | null {
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
