import { Buffer } from "node:buffer";
import { reorderedBodies } from "./body-restyled.ts";
import { BLOCK, type HmacKey } from "./hmac.ts";
import type { SignedRequest, StoredCredentials } from "./signing.ts";
import {
  bodies,
  type Choice,
  digestSent,
  inMilliseconds,
  keys,
  type Mistake,
  methods,
  paths,
  reordered,
  right,
  shown,
} from "./signing-choices.ts";

/** What is known about a wrong signature: the mistakes that together reproduce it (none when unknown), and what to say. */
export interface Explanation {
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

/**
 * The bound of one explanation: bytes hashed, each HMAC counted with 1 KiB of its own. So at most 24,576 HMACs, some
 * 50 ms. Single mistakes in an ordinary order stay far below it; a body of 64 KiB gets some 370 attempts.
 */
const BUDGET_BYTES = 24 * 1024 * 1024;
const BYTES_PER_HMAC = 1024;

/** How many keys a body may have that is tried with its keys in every order: alone, and with one other mistake. */
const MOST_KEYS_ALONE = 7;
const MOST_KEYS_IN_PAIRS = 5;

/** An attempt with its message behind one free block; the next one may be written over it. */
interface Trial {
  readonly key: HmacKey;
  readonly room: Buffer;
  readonly attempt: () => Attempt;
}

/** Every combination of the cheap choices, fewest mistakes first. */
function attempts(request: SignedRequest, seconds: string, credentials: StoredCredentials): Attempt[] {
  const [methodChoices, pathChoices] = [methods(request.method), paths(request)];
  const keyChoices = keys(credentials, request.headers.poly_api_key ?? "");
  const bodyChoices = bodies(request.body);
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

const roomFor = ({ timestamp, method, path, body }: Attempt): Buffer =>
  Buffer.concat([Buffer.alloc(BLOCK), Buffer.from(timestamp.value + method.value + path.value), body.value]);

const trialOf = (attempt: Attempt): Trial => ({
  key: attempt.key.value,
  room: roomFor(attempt),
  attempt: () => attempt,
});

/** An attempt that signs milliseconds, in every other millisecond of its second. */
function* otherMilliseconds(attempt: Attempt, seconds: string): Generator<Trial> {
  const [key, room] = [attempt.key.value, roomFor(attempt)];
  for (let millis = 1; millis < 1000; millis += 1) {
    room.write(String(millis).padStart(3, "0"), BLOCK + seconds.length, "latin1");
    yield { key, room, attempt: () => ({ ...attempt, timestamp: inMilliseconds(seconds, millis) }) };
  }
}

/** All that is tried, in order: cheap choices, then those that take hundreds of attempts, alone before in pairs. */
function* trialsOf(all: readonly Attempt[], seconds: string, body: Uint8Array): Generator<Trial> {
  for (const attempt of all) yield trialOf(attempt);
  const inMillis = all.filter(({ timestamp, count }) => timestamp.mistakes.length > 0 && count <= 2);
  for (const attempt of inMillis) if (attempt.count === 1) yield* otherMilliseconds(attempt, seconds);
  for (const attempt of all) {
    const isOwnBody = attempt.body.mistakes.length === 0 && attempt.timestamp.mistakes.length === 0;
    if (!isOwnBody || attempt.count > 1) continue;
    const mostKeys = attempt.count === 0 ? MOST_KEYS_ALONE : MOST_KEYS_IN_PAIRS;
    for (const other of reorderedBodies(body, mostKeys))
      yield trialOf({ ...attempt, body: reordered(other) });
  }
  for (const attempt of inMillis) if (attempt.count === 2) yield* otherMilliseconds(attempt, seconds);
}

/** The attempt that reproduces the digest, within the budget; undefined when none does. */
function reproduce(trials: Iterable<Trial>, digest: string): Attempt | undefined {
  let left = BUDGET_BYTES;
  for (const { key, room, attempt } of trials) {
    left -= room.length + BYTES_PER_HMAC;
    if (left < 0) return undefined;
    if (key.hexOf(room) === digest) return attempt();
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
  credentials: StoredCredentials,
): Explanation {
  const digest = digestSent(signature);
  if (digest === undefined) {
    return { mistakes: [], hint: `expected 64 hexadecimal digits, found ${signature.length} characters` };
  }
  const all = attempts(request, seconds, credentials);
  const found = reproduce(trialsOf(all, seconds, request.body), digest.value);
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
