import { parse, YAMLParseError } from "yaml";
import { unitsOf } from "../../api/decimals.ts";
import { nearest } from "../../api/nearest.ts";
import { MONEY_PLACES, SIZE_PLACES } from "../../core/format.ts";
import { FILE_LIMITS, readText, whyUnread } from "../../regular-file.ts";

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

/** What a scenario's names stand for on a deployment. */
export interface TargetFile {
  /** Id or slug there, by the scenario's name. */
  readonly markets: ReadonlyMap<string, string>;
  readonly accounts: ReadonlyMap<string, TargetAccount>;
}

/** A wallets file that cannot be used; the message is a sentence for the user and never repeats a key. */
export class TargetFileError extends Error {
  override readonly name = "TargetFileError";
}

const SECRETS = ["privateKey", "apiKey", "secret", "passphrase"] as const;
const MOST_ALIASES = 100;
const VARIABLE = /^[A-Za-z_][A-Za-z\d_]{0,63}$/;
/** n of secp256k1 (SEC 2, section 2.4.1): private keys are from 1 to n - 1. */
const GROUP_ORDER = 0xffffffff_ffffffff_ffffffff_fffffffe_baaedce6_af48a03b_bfd25e8c_d0364141n;

/**
 * Reads a wallets file (YAML or JSON): `markets: { market: will-it-rain }` and
 * `accounts: { alice: { privateKey: 0x..., USDC: 1000 } }`. A secret written `$NAME` is read from the environment.
 * @throws TargetFileError
 */
export function readTargetFile(
  path: string,
  environment: Readonly<Record<string, string | undefined>>,
): TargetFile {
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
  const text = textOf(path);
  try {
    return parse(text, { maxAliasCount: MOST_ALIASES, intAsBigInt: true, logLevel: "error" });
  } catch (error) {
    throw new TargetFileError(`--wallets ${path}: ${whyNoYaml(error)}`);
  }
}

function textOf(path: string): string {
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
export const shown = (name: string): string =>
  /^[A-Za-z][\w -]{0,63}$/.test(name) && !/[\da-f-]{24}/i.test(name) ? name : "(a name)";

/** A slug as it may be shown, for the same reason; a market's id is not. */
export const shownSlug = (slug: string): string =>
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
