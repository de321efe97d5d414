import { Buffer } from "node:buffer";
import { restyledBodies } from "./body-restyled.ts";
import { BLOCK, HmacKey } from "./hmac.ts";
import type { SignedRequest } from "./signing.ts";

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
  | "BODY_LEFT_OUT"
  | "BODY_RESERIALISED"
  | "EMPTY_OBJECT_SIGNED"
  | "DIGEST_BASE64"
  | "DIGEST_0X";

/** What is known about a wrong signature: the mistakes that together reproduce it (none when unknown), and what to say. */
export interface Explanation {
  readonly mistakes: readonly Mistake[];
  readonly hint: string;
}

/** One way to fill one part of the message; without mistakes it is the right way. */
interface Choice<T> {
  readonly value: T;
  readonly mistakes: readonly Mistake[];
  readonly hint: string;
}

interface Attempt {
  readonly timestamp: Choice<string>;
  readonly method: Choice<string>;
  readonly path: Choice<string>;
  readonly body: Choice<Uint8Array>;
  readonly key: Choice<HmacKey>;
  readonly count: number;
}

const right = <T>(value: T): Choice<T> => ({ value, mistakes: [], hint: "" });
const wrong = <T>(name: Mistake, value: T, hint: string): Choice<T> => ({ value, mistakes: [name], hint });

/**
 * The bound of one explanation: bytes hashed, each HMAC counted with 1 KiB of its own. So at most 24,576 HMACs, about
 * 20 ms. An ordinary order stays below it; a body of 64 KiB gets some 370 attempts, those with fewest mistakes first.
 */
const BUDGET_BYTES = 24 * 1024 * 1024;
const BYTES_PER_HMAC = 1024;

const HEX_DIGEST = /^[0-9a-f]{64}$/i;
const PREFIXED_DIGEST = /^0x[0-9a-f]{64}$/i;
const BASE64_DIGEST = /^(?:[A-Za-z0-9+/]{43}=?|[A-Za-z0-9_-]{43}=?)$/;

/** The digest that was sent, as lower-case hex, with what was wrong about its form. */
function digestSent(signature: string): Choice<string> | undefined {
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

const inMilliseconds = (seconds: string, millis: number): Choice<string> => {
  const value = seconds + String(millis).padStart(3, "0");
  const hint = `the timestamp was signed in milliseconds (${value}): would match with timestamp ${seconds}`;
  return wrong("MILLISECONDS", value, hint);
};

function methods(method: string): Choice<string>[] {
  const lower = method.toLowerCase();
  const hint = `the method was signed in lower case (${lower}): would match with ${method}`;
  return [right(method), wrong("LOWER_CASE_METHOD", lower, hint)];
}

const LONGEST_SHOWN = 200;
const shown = (text: string): string =>
  text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}...` : text;

/** A piece of a signed path that does not belong there. */
const piece = (text: string, mistake: Mistake, says: string) => ({ text, mistakes: [mistake], says });
type Piece = { readonly text: string; readonly mistakes: readonly Mistake[]; readonly says: string };
const NO_PIECE: Piece = { text: "", mistakes: [], says: "" };

/** Ways to sign a path: with the prefix or the full URL in front, a slash behind, the query behind that. */
function paths({ path, url, headers: { host } }: SignedRequest): Choice<string>[] {
  const fronts: Piece[] = [NO_PIECE, piece("/clob", "CLOB_PREFIX", "the /clob prefix")];
  for (const scheme of host === undefined ? [] : ["http", "https"]) {
    fronts.push(piece(`${scheme}://${host}/clob`, "FULL_URL", "the full URL"));
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

function keys(secret: string): Choice<HmacKey>[] {
  const keys = [right(new HmacKey(Buffer.from(secret)))];
  const instead = "would match with the text of the secret as the key";
  if (/^[A-Za-z0-9+/_-]+={0,2}$/.test(secret)) {
    const key = new HmacKey(Buffer.from(secret, "base64"));
    keys.push(wrong("SECRET_BASE64_DECODED", key, `the secret was base64-decoded first: ${instead}`));
  }
  if (/^(?:[0-9a-f]{2})+$/i.test(secret)) {
    const key = new HmacKey(Buffer.from(secret, "hex"));
    keys.push(wrong("SECRET_HEX_DECODED", key, `the secret was hex-decoded first: ${instead}`));
  }
  return keys;
}

function bodies(body: Uint8Array): Choice<Uint8Array>[] {
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

/** Every combination of the cheap choices, fewest mistakes first. */
function attempts(request: SignedRequest, seconds: string, secret: string): Attempt[] {
  const [methodChoices, pathChoices] = [methods(request.method), paths(request)];
  const [keyChoices, bodyChoices] = [keys(secret), bodies(request.body)];
  const all: Attempt[] = [];
  for (const timestamp of [right(seconds), inMilliseconds(seconds, 0)])
    for (const method of methodChoices)
      for (const path of pathChoices)
        for (const key of keyChoices)
          for (const body of bodyChoices) {
            const parts = [timestamp, method, path, key, body];
            const count = parts.reduce((sum, part) => sum + part.mistakes.length, 0);
            all.push({ timestamp, method, path, key, body, count });
          }
  return all.sort((a, b) => a.count - b.count);
}

/** The attempt that reproduces the digest, within the budget; undefined when none does. */
function reproduce(all: readonly Attempt[], seconds: string, digest: string): Attempt | undefined {
  let left = BUDGET_BYTES;
  const roomFor = ({ timestamp, method, path, body }: Attempt): Buffer =>
    Buffer.concat([
      Buffer.alloc(BLOCK),
      Buffer.from(timestamp.value + method.value + path.value),
      body.value,
    ]);
  for (const attempt of all) {
    const room = roomFor(attempt);
    left -= room.length + BYTES_PER_HMAC;
    if (left < 0) return undefined;
    if (attempt.key.value.hexOf(room) === digest) return attempt;
  }
  for (const attempt of all) {
    if (attempt.count !== 1 && attempt.count !== 2) continue;
    if (attempt.timestamp.mistakes.length === 0) continue;
    const room = roomFor(attempt);
    for (let millis = 1; millis < 1000; millis += 1) {
      left -= room.length + BYTES_PER_HMAC;
      if (left < 0) return undefined;
      room.write(String(millis).padStart(3, "0"), BLOCK + seconds.length, "latin1");
      if (attempt.key.value.hexOf(room) === digest) {
        return { ...attempt, timestamp: inMilliseconds(seconds, millis) };
      }
    }
  }
  return undefined;
}

/**
 * Says why a signature that is wrong is wrong: recomputes it for the known mistakes, in every combination of the cheap
 * ones and for each millisecond of the second with one other mistake, and names the fewest that reproduce it.
 * `seconds` and `signature` are the two headers. Never throws; never tells a secret or the right digest.
 */
export function explainSignature(
  request: SignedRequest,
  seconds: string,
  signature: string,
  secret: string,
): Explanation {
  const digest = digestSent(signature);
  if (digest === undefined) {
    return { mistakes: [], hint: `expected 64 hexadecimal digits, found ${signature.length} characters` };
  }
  const found = reproduce(attempts(request, seconds, secret), seconds, digest.value);
  if (found === undefined) return { mistakes: [], hint: unknownMistake(request, seconds, digest) };
  const wrongs = [digest, found.key, found.timestamp, found.method, found.path, found.body].filter(
    (choice) => choice.mistakes.length > 0,
  );
  const mistakes = wrongs.flatMap((choice) => choice.mistakes);
  const hints = wrongs.map((choice) => choice.hint).join("; ");
  return { mistakes, hint: mistakes.length > 1 ? `${mistakes.length} mistakes at once: ${hints}` : hints };
}

function unknownMistake(request: SignedRequest, seconds: string, digest: Choice<string>): string {
  const head = JSON.stringify(shown(seconds + request.method + request.path));
  const rest =
    request.body.length > 0 ? ` and then the ${request.body.length} bytes of the body as sent` : "";
  const form = digest.mistakes.length > 0 ? "the digest is sent as 64 hexadecimal digits; " : "";
  return `${form}no known mistake reproduces it: is it the secret issued with this API key? The signed message is ${head}${rest}`;
}
