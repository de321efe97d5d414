import { Buffer } from "node:buffer";
import { counted, jsonEscape, shortened } from "../core/format.ts";
import { isWord } from "../core/terms.ts";
import { nestsDeeper } from "./request-body.ts";
import { HmacKey, type SignedRequest, type StoredCredentials } from "./signing.ts";

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

/** A candidate for one part of the signed message; the correct one has no mistakes. */
interface Choice<T> {
  readonly value: T;
  readonly mistakes: readonly Mistake[];
  readonly hint: string;
}

const correct = <T>(value: T): Choice<T> => ({ value, mistakes: [], hint: "" });
const wrong = <T>(name: Mistake, value: T, hint: string): Choice<T> => ({ value, mistakes: [name], hint });

const HEX_DIGEST = /^[0-9a-f]{64}$/i;
const BASE64_DIGEST = /^(?:[A-Za-z0-9+/]{43}=?|[A-Za-z0-9_-]{43}=?)$/;

/** Converts the digest that was sent to lower-case hex, with any mistake in its format; undefined if it is not a digest. */
function digestSent(signature: string): Choice<string> | undefined {
  if (HEX_DIGEST.test(signature)) return correct(signature.toLowerCase());
  if (isWord(signature)) {
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

const shown = (text: string): string => shortened(text, 200);

/** Returns the candidates for the path: with the prefix or full URL before it, a trailing slash, the query string. */
function pathChoices({ path, url, prefix = "", headers: { host }, hosts }: SignedRequest): Choice<string>[] {
  const nothing = correct("");
  const ofPool = prefix === "" ? [] : [`${prefix}/clob`, prefix];
  const prefixes = ["/clob", ...ofPool].map((before) => wrong("CLOB_PREFIX", before, `the ${before} prefix`));
  const urls = (hosts ?? (host === undefined ? [] : [host])).flatMap((name) =>
    ["http", "https"].map((scheme) => wrong("FULL_URL", `${scheme}://${name}${prefix}/clob`, "the full URL")),
  );
  const slash = wrong("TRAILING_SLASH", "/", "a trailing slash");
  const mark = url.indexOf("?");
  const queries = mark < 0 ? [] : [wrong("QUERY_STRING", url.slice(mark), "the query string")];
  const choices: Choice<string>[] = [];
  for (const before of [nothing, ...prefixes, ...urls])
    for (const end of [nothing, slash])
      for (const query of [nothing, ...queries]) {
        const value = before.value + path + end.value + query.value;
        const additions = [before, end, query].filter((each) => each !== nothing);
        const names = additions.map((each) => each.hint).join(" and ");
        const hint = `the path was signed as ${shown(value)}, with ${names}: would match with path ${shown(path)}`;
        choices.push({ value, mistakes: additions.flatMap((each) => each.mistakes), hint });
      }
  return choices;
}

/** Returns the candidates for the HMAC key: the text of the secret, and common mistakes. */
function keyChoices({ secret, passphrase }: StoredCredentials, apiKey: string): Choice<HmacKey>[] {
  const mistaken = (mistake: Mistake, key: Buffer, cause: string): Choice<HmacKey> =>
    wrong(mistake, new HmacKey(key), `${cause}: would match with the text of the secret as the key`);
  return [
    correct(new HmacKey(Buffer.from(secret))),
    mistaken("SECRET_BASE64_DECODED", Buffer.from(secret, "base64"), "the secret was base64-decoded first"),
    mistaken("SECRET_HEX_DECODED", Buffer.from(secret, "hex"), "the secret was hex-decoded first"),
    mistaken("PASSPHRASE_AS_KEY", Buffer.from(passphrase), "the passphrase was used as the key of the HMAC"),
    mistaken("API_KEY_AS_KEY", Buffer.from(apiKey), "the API key was used as the key of the HMAC"),
  ];
}

function bodyChoices(body: Uint8Array): Choice<Uint8Array>[] {
  if (body.length === 0) {
    const hint = "{} was signed for an empty body: would match with nothing after the path";
    return [correct(body), wrong("EMPTY_OBJECT_SIGNED", Buffer.from("{}"), hint)];
  }
  const omitted = "the body was left out: would match with the body's bytes after the path";
  const choices = [correct(body), wrong<Uint8Array>("BODY_LEFT_OUT", new Uint8Array(), omitted)];
  for (const { text, style } of restyledBodies(body)) {
    const hint = `would match the re-serialised body (${style}): sign the exact bytes that are sent`;
    choices.push(wrong("BODY_RESERIALISED", Buffer.from(text), hint));
  }
  for (const text of textsOf(body)) {
    const hint = "the body was signed as Python's str() prints it: sign the exact bytes that are sent";
    choices.push(wrong("BODY_RESERIALISED", Buffer.from(asInPython(text)), hint));
  }
  return choices;
}

/**
 * Limit of one explanation in bytes hashed, plus 1 KiB per HMAC: at most 65,536 HMACs, about 100 ms. Everything that is
 * tried for an ordinary order stays below it, about 47,000; a body of 64 KiB gets about 980 attempts.
 */
const BUDGET_BYTES = 64 * 1024 * 1024;
const BYTES_PER_HMAC = 1024;

/**
 * Limits of key orders: keys of the body, and HMACs. They allow every order of 7 keys as the only mistake, of 6 keys with
 * any other one, of 5 keys with any two others, and of 4 keys with all others, except milliseconds.
 */
const MAX_KEYS = 7;
const MAX_REORDERED = 20_000;

type Attempt = ReturnType<typeof cheapAttempts> extends Generator<infer Made> ? Made : never;

/** Yields all combinations of the cheap choices, each with its number of mistakes. */
function* cheapAttempts(request: SignedRequest, seconds: string, credentials: StoredCredentials) {
  const { method } = request;
  const lower = method.toLowerCase();
  const inLowerCase = `the method was signed in lower case (${lower}): would match with ${method}`;
  const methods = [correct(method), wrong("LOWER_CASE_METHOD", lower, inLowerCase)];
  const paths = pathChoices(request);
  const keys = keyChoices(credentials, request.headers.poly_api_key ?? "");
  const bodies = bodyChoices(request.body);
  for (const timestamp of [correct(seconds), inMilliseconds(seconds, 0)])
    for (const method of methods)
      for (const path of paths)
        for (const key of keys)
          for (const body of bodies) {
            const parts = [timestamp, method, path, key, body];
            const count = parts.reduce((sum, part) => sum + part.mistakes.length, 0);
            yield { timestamp, method, path, key, body, count };
          }
}

/** Yields all attempts: cheap choices first, then those with hundreds of variants, fewest mistakes first. */
function* attemptsOf(request: SignedRequest, seconds: string, credentials: StoredCredentials) {
  const cheap = [...cheapAttempts(request, seconds, credentials)].sort((a, b) => a.count - b.count);
  yield* cheap;
  const inMillis = cheap.filter(({ timestamp, count }) => timestamp.mistakes.length > 0 && count <= 2);
  for (const attempt of inMillis) if (attempt.count === 1) yield* otherMilliseconds(attempt, seconds);
  const orders = [...reorderedBodies(request.body, MAX_KEYS)].map(({ text, style }) => {
    const hint = `the body was signed with its keys in another order (${shown(style)}): sign the exact bytes that are sent`;
    return wrong("BODY_KEYS_REORDERED", Buffer.from(text), hint);
  });
  const isOwn = ({ body, timestamp }: Attempt) => body.mistakes.length + timestamp.mistakes.length === 0;
  for (const attempt of cheap.filter(isOwn).slice(0, MAX_REORDERED / orders.length))
    for (const body of orders) yield { ...attempt, body };
  for (const attempt of inMillis) if (attempt.count === 2) yield* otherMilliseconds(attempt, seconds);
}

function* otherMilliseconds(attempt: Attempt, seconds: string): Generator<Attempt> {
  for (let millis = 1; millis < 1000; millis += 1)
    yield { ...attempt, timestamp: inMilliseconds(seconds, millis) };
}

/** Returns the first attempt that reproduces the digest; undefined if none does within the budget. */
function reproduce(attempts: Iterable<Attempt>, digest: string): Attempt | undefined {
  let left = BUDGET_BYTES;
  for (const attempt of attempts) {
    const { timestamp, method, path, body, key } = attempt;
    const text = timestamp.value + method.value + path.value;
    left -= text.length + body.value.length + BYTES_PER_HMAC;
    if (left < 0) return undefined;
    if (key.value.hex(text, body.value) === digest) return attempt;
  }
  return undefined;
}

/**
 * Explains a wrong signature: recomputes it with the known mistakes, in all combinations of the cheap ones, with at most
 * one other for milliseconds and within limits for key orders, and returns the fewest that reproduce it, none if unknown.
 * `seconds` and `signature` are the two headers. Never throws; never reveals a secret or the right digest.
 */
export function explainSignature(
  request: SignedRequest,
  seconds: string,
  signature: string,
  credentials: StoredCredentials,
): { readonly mistakes: readonly Mistake[]; readonly hint: string } {
  const digest = digestSent(signature);
  if (digest === undefined) {
    const found = /[^\da-f]/i.test(signature) ? "another character" : counted(signature.length, "digit");
    return { mistakes: [], hint: `expected 64 hexadecimal digits, found ${found}` };
  }
  const found = reproduce(attemptsOf(request, seconds, credentials), digest.value);
  if (found === undefined) return { mistakes: [], hint: unknownMistake(request, seconds, digest) };
  const wrongChoices = [digest, found.key, found.timestamp, found.method, found.path, found.body].filter(
    (choice) => choice.mistakes.length > 0,
  );
  const mistakes = wrongChoices.flatMap((choice) => choice.mistakes);
  const hints = wrongChoices.map((choice) => choice.hint).join("; ");
  return { mistakes, hint: mistakes.length > 1 ? `${mistakes.length} mistakes at once: ${hints}` : hints };
}

function unknownMistake(request: SignedRequest, seconds: string, digest: Choice<string>): string {
  const head = JSON.stringify(shown(seconds + request.method + request.path));
  const rest =
    request.body.length > 0 ? ` and then the ${request.body.length} bytes of the body as sent` : "";
  const form = digest.mistakes.length > 0 ? "the digest is sent as 64 hexadecimal digits; " : "";
  return `${form}no known mistake reproduces it: is it the secret issued with this API key? The signed message is ${head}${rest}`;
}

/** The body's JSON value, serialised in another style than it was sent in. */
interface RestyledBody {
  readonly text: string;
  /** Description of the style for a hint. */
  readonly style: string;
}

/** Larger or deeper bodies are not reserialised; an order has about 200 bytes and one level. */
const MAX_BYTES = 4096;
const MAX_LEVELS = 16;

const STRING = /"(?:[^"\\]|\\.)*"/g;
const SCALAR = /"(?:[^"\\]|\\.)*"|[^\s[\]{},:"]+/g;
const STRING_OR_SEPARATOR = /"(?:[^"\\]|\\.)*"|[,:]/g;
const NOT_ASCII = /[\u0080-\uffff]/g;

/** A JSON value whose scalars and keys are strings with their text as sent. */
type Tree = string | Tree[] | { readonly [key: string]: Tree };

const treeOf = (json: string): Tree =>
  JSON.parse(json.replace(SCALAR, (scalar) => JSON.stringify(scalar))) as Tree;

const keyOf = (member: readonly [key: string, Tree]): string => JSON.parse(member[0]) as string;

function sorted(tree: Tree): Tree {
  if (typeof tree === "string") return tree;
  if (Array.isArray(tree)) return tree.map(sorted);
  const members = Object.entries(tree).sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  return Object.fromEntries(members.map(([key, value]) => [key, sorted(value)]));
}

const spaced = (json: string): string =>
  json.replace(STRING_OR_SEPARATOR, (token) => (token.length === 1 ? `${token} ` : token));

/** Styles of common serialisers, by description. */
const STYLES: Readonly<Record<string, (tree: Tree) => string>> = {
  compact: (tree) => JSON.stringify(tree),
  'spaces after ":" and ","': (tree) => spaced(JSON.stringify(tree)),
  "indented by two spaces": (tree) => JSON.stringify(tree, null, 2),
};

const PYTHON_NAMES: Readonly<Record<string, string>> = { true: "True", false: "False", null: "None" };

/** Returns JSON as Python's `str` prints its value, except characters that are not printable. */
function asInPython(json: string): string {
  return spaced(printed(JSON.stringify(treeOf(json)))).replace(SCALAR, (scalar) => {
    if (!scalar.startsWith('"')) return PYTHON_NAMES[scalar] ?? scalar;
    const text = scalar.slice(1, -1).replaceAll('\\"', '"');
    return text.includes("'") && !text.includes('"') ? `"${text}"` : `'${text.replaceAll("'", "\\'")}'`;
  });
}

/** Removes the quotes that `treeOf` added. */
const printed = (json: string): string => json.replace(STRING, (scalar) => JSON.parse(scalar) as string);

/**
 * Returns the body as common serialisers would write it: compact, spaced like Python's json.dumps, indented by two,
 * keys sorted, non-ASCII characters escaped; each with numbers as sent and as JavaScript prints them.
 * Returns none if the body is not JSON in UTF-8, is over 4 KiB or has over 16 levels. Never throws.
 */
export function restyledBodies(body: Uint8Array): RestyledBody[] {
  const sources = textsOf(body);
  const styles = new Map<string, string>();
  for (const source of sources) {
    const tree = treeOf(source);
    for (const [keys, value] of [["", tree] as const, [", keys sorted", sorted(tree)] as const]) {
      for (const [description, print] of Object.entries(STYLES)) {
        const style = description + keys;
        const text = printed(print(value));
        if (!styles.has(text)) styles.set(text, style);
        const ascii = text.replace(NOT_ASCII, jsonEscape);
        if (!styles.has(ascii)) styles.set(ascii, `${style}, non-ASCII characters escaped`);
      }
    }
  }
  styles.delete(sources[0] ?? "");
  return [...styles].map(([text, style]) => ({ text, style }));
}

/**
 * Yields the body's JSON object with its keys in every other order, compact and spaced; `style` lists the keys.
 * Yields none if `restyledBodies` has none, or if the body is not an object of 2 to `maxKeys` keys.
 */
export function* reorderedBodies(body: Uint8Array, maxKeys: number): Generator<RestyledBody> {
  const [sent = "[]"] = textsOf(body);
  const tree = treeOf(sent);
  if (typeof tree === "string" || Array.isArray(tree)) return;
  const members = Object.entries(tree);
  if (members.length > maxKeys) return;
  for (const styled of [(json: string) => json, spaced]) {
    const texts = members.map((member) => {
      const json = styled(JSON.stringify(Object.fromEntries([member])));
      return { key: keyOf(member), text: printed(json).slice(1, -1) };
    });
    for (const order of permutations(texts)) {
      if (order.every((member, index) => member === texts[index])) continue;
      const text = `{${order.map((member) => member.text).join(styled(","))}}`;
      yield { text, style: order.map(({ key }) => key).join(", ") };
    }
  }
}

/** Yields all permutations, the given order first. */
function* permutations<T>(items: readonly T[]): Generator<readonly T[]> {
  if (items.length === 0) yield [];
  for (const [index, first] of items.entries()) {
    for (const rest of permutations(items.toSpliced(index, 1))) yield [first, ...rest];
  }
}

/** Throws for other bytes than UTF-8, also in the inspector, where `isUtf8` of Node does not exist. */
const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Returns a JSON body as sent and as JSON.stringify writes it; none if it is not JSON in UTF-8, or too long or deep. */
function textsOf(body: Uint8Array): string[] {
  if (body.length > MAX_BYTES) return [];
  try {
    const sent = UTF8.decode(body);
    const value: unknown = JSON.parse(sent);
    return nestsDeeper(value, MAX_LEVELS) ? [] : [sent, JSON.stringify(value)];
  } catch {
    return [];
  }
}
