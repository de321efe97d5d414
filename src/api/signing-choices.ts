import { Buffer } from "node:buffer";
import { type RestyledBody, restyledBodies } from "./body-restyled.ts";
import { HmacKey } from "./hmac.ts";
import type { SignedRequest, StoredCredentials } from "./signing.ts";

/** A known mistake of a signing client. */
export type Mistake =
  | "CLOB_PREFIX"
  | "FULL_URL"
  | "QUERY_STRING"
  | "TRAILING_SLASH"
  | "LOWER_CASE_METHOD"
  | "MILLISECONDS"
  | "SECRET_BASE64_DECODED"
  | "SECRET_HEX_DECODED"
  | "PASSPHRASE_AS_KEY"
  | "API_KEY_AS_KEY"
  | "BODY_LEFT_OUT"
  | "BODY_RESERIALISED"
  | "BODY_KEYS_REORDERED"
  | "EMPTY_OBJECT_SIGNED"
  | "DIGEST_BASE64"
  | "DIGEST_0X";

/** One way to fill one part of the message; without mistakes it is the right way. */
export interface Choice<T> {
  readonly value: T;
  readonly mistakes: readonly Mistake[];
  readonly hint: string;
}

export const right = <T>(value: T): Choice<T> => ({ value, mistakes: [], hint: "" });
const wrong = <T>(name: Mistake, value: T, hint: string): Choice<T> => ({ value, mistakes: [name], hint });

const HEX_DIGEST = /^[0-9a-f]{64}$/i;
const PREFIXED_DIGEST = /^0x[0-9a-f]{64}$/i;
const BASE64_DIGEST = /^(?:[A-Za-z0-9+/]{43}=?|[A-Za-z0-9_-]{43}=?)$/;

/** The digest that was sent, as lower-case hex, with what was wrong about its form. */
export function digestSent(signature: string): Choice<string> | undefined {
  if (HEX_DIGEST.test(signature)) return right(signature.toLowerCase());
  if (PREFIXED_DIGEST.test(signature)) {
    const hint = "the digest was sent with a 0x prefix: would match with the 64 hexadecimal digits alone";
    return wrong("DIGEST_0X", signature.slice(2).toLowerCase(), hint);
  }
  if (!BASE64_DIGEST.test(signature)) return undefined;
  const form = /[-_]/.test(signature) ? "base64url" : "base64";
  const hint = `the digest was sent as ${form}: would match with the digest in hexadecimal`;
  return wrong("DIGEST_BASE64", Buffer.from(signature, "base64").toString("hex"), hint);
}

export const inMilliseconds = (seconds: string, millis: number): Choice<string> => {
  const value = seconds + String(millis).padStart(3, "0");
  const hint = `the timestamp was signed in milliseconds (${value}): would match with timestamp ${seconds}`;
  return wrong("MILLISECONDS", value, hint);
};

export function methods(method: string): Choice<string>[] {
  const lower = method.toLowerCase();
  const hint = `the method was signed in lower case (${lower}): would match with ${method}`;
  return [right(method), wrong("LOWER_CASE_METHOD", lower, hint)];
}

const LONGEST_SHOWN = 200;
export const shown = (text: string): string =>
  text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}...` : text;

/** A piece of a signed path that does not belong there. */
const piece = (text: string, mistake: Mistake, says: string) => ({ text, mistakes: [mistake], says });
type Piece = { readonly text: string; readonly mistakes: readonly Mistake[]; readonly says: string };
const NO_PIECE: Piece = { text: "", mistakes: [], says: "" };

/** Ways to sign a path: with the prefix or the full URL in front, a slash behind, the query behind that. */
export function paths({ path, url, headers: { host }, hosts }: SignedRequest): Choice<string>[] {
  const fronts: Piece[] = [NO_PIECE, piece("/clob", "CLOB_PREFIX", "the /clob prefix")];
  for (const name of hosts ?? (host === undefined ? [] : [host])) {
    for (const scheme of ["http", "https"]) {
      fronts.push(piece(`${scheme}://${name}/clob`, "FULL_URL", "the full URL"));
    }
  }
  const ends: Piece[] = [NO_PIECE, piece("/", "TRAILING_SLASH", "a trailing slash")];
  const mark = url.indexOf("?");
  const query = mark < 0 ? [] : [piece(url.slice(mark), "QUERY_STRING", "the query string")];
  const choices: Choice<string>[] = [];
  for (const front of fronts)
    for (const end of ends)
      for (const tail of [NO_PIECE, ...query]) {
        const value = front.text + path + end.text + tail.text;
        const pieces = [front, end, tail].filter((part) => part !== NO_PIECE);
        const says = pieces.map((part) => part.says).join(" and ");
        const hint = `the path was signed as ${shown(value)}, with ${says}: would match with path ${shown(path)}`;
        choices.push({ value, mistakes: pieces.flatMap((part) => part.mistakes), hint });
      }
  return choices;
}

/** What was the key of the HMAC: the text of the secret, or what is mistaken for it. */
export function keys({ secret, passphrase }: StoredCredentials, apiKey: string): Choice<HmacKey>[] {
  const choices = [right(new HmacKey(Buffer.from(secret)))];
  const instead = "would match with the text of the secret as the key";
  const add = (mistake: Mistake, key: Buffer, says: string): void => {
    choices.push(wrong(mistake, new HmacKey(key), `${says}: ${instead}`));
  };
  if (/^[A-Za-z0-9+/_-]+={0,2}$/.test(secret)) {
    add("SECRET_BASE64_DECODED", Buffer.from(secret, "base64"), "the secret was base64-decoded first");
  }
  if (/^(?:[0-9a-f]{2})+$/i.test(secret)) {
    add("SECRET_HEX_DECODED", Buffer.from(secret, "hex"), "the secret was hex-decoded first");
  }
  add("PASSPHRASE_AS_KEY", Buffer.from(passphrase), "the passphrase was used as the key of the HMAC");
  if (apiKey !== "")
    add("API_KEY_AS_KEY", Buffer.from(apiKey), "the API key was used as the key of the HMAC");
  return choices;
}

export function bodies(body: Uint8Array): Choice<Uint8Array>[] {
  if (body.length === 0) {
    const hint = "{} was signed for an empty body: would match with nothing after the path";
    return [right(body), wrong("EMPTY_OBJECT_SIGNED", Buffer.from("{}"), hint)];
  }
  const omitted = "the body was left out: would match with the body's bytes after the path";
  const choices = [right(body), wrong<Uint8Array>("BODY_LEFT_OUT", new Uint8Array(), omitted)];
  for (const { text, style } of restyledBodies(body)) {
    const hint = `would match the re-serialised body (${style}): sign the exact bytes that are sent`;
    choices.push(wrong("BODY_RESERIALISED", Buffer.from(text), hint));
  }
  return choices;
}

/** A body that was signed with its keys in another order than it was sent with. */
export const reordered = ({ text, style }: RestyledBody): Choice<Uint8Array> =>
  wrong(
    "BODY_KEYS_REORDERED",
    Buffer.from(text),
    `the body was signed with its keys in another order (${shown(style)}): sign the exact bytes that are sent`,
  );
