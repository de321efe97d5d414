import { ExchangeClient } from "../client/client.ts";
import type { RawReply } from "../client/result.ts";
import { type Given, readValue, SERVER_URL } from "../setting.ts";
import type { Values } from "./commands.ts";
import { UsageError } from "./process.ts";

/**
 * Returns the URL of the server that the command line or the environment names; null for none. A word of the command line,
 * also that of a directory or a report, precedes the environment.
 * @throws UsageError if the command line names several
 */
export function serverNamed(
  command: "record" | "report",
  word: string | undefined,
  values: Values<"record" | "report">,
  { flags }: Given,
): string | null {
  const flag = ["url", "from"].find((name) => flags[name] !== undefined);
  if (flag !== undefined && word !== undefined)
    throw new UsageError(`${command} expects one exchange, found --${flag} and ${word}`);
  if (flags.url !== undefined && flags.from !== undefined)
    throw new UsageError("--from is another name of --url: give one of them");
  if (word === undefined) return flags.from === undefined ? (values.url ?? values.from) : values.from;
  return /^https?:/.test(word) ? readValue(command, word, SERVER_URL) : null;
}

/**
 * Requests a control endpoint of a running server.
 * @param read returns the result, or null if the reply has none. `what` is a verb with its object, for errors.
 * @throws UsageError if clobsim does not answer, or refuses.
 */
export async function askServer<T>(
  url: string,
  { simToken, path, what }: Readonly<{ simToken: string | null; path: string; what: string }>,
  read: (reply: RawReply) => T | null,
): Promise<T> {
  const client = new ExchangeClient(url, {
    timeoutMs: 60_000,
    ...(simToken !== null && { simToken }),
  });
  const sent = await client.send({ method: "GET", path });
  client.close();
  if (!sent.ok) {
    const { details, message } = sent.error;
    const cause = details?.cause ?? message.replace(/^.*?: /, "");
    throw new UsageError(`nothing answers at ${url} (${cause}): is clobsim serve running there?`);
  }
  const reply = sent.value;
  const isAnswer = reply.status === 200 && reply.headers["x-sim-sequence"] !== undefined;
  const result = isAnswer ? read(reply) : null;
  if (result === null) throw new UsageError(failureText(reply, url, simToken !== null, what));
  return result;
}

/** Explains why a reply has no result. */
function failureText(reply: RawReply, url: string, hasToken: boolean, what: string): string {
  const { headers } = reply;
  const { origin, pathname } = new URL(url);
  const pool = headers["x-sim-pool"];
  if (pool !== undefined) {
    const relation = pathname === "/" ? "is" : "names no exchange of";
    return `${url} ${relation} a pool of ${pool} exchanges: name one of them, such as ${origin}/1`;
  }
  const body = reply.body as Partial<{ code: string; error: string; hint: string }> | null | undefined;
  if (headers["x-sim-sequence"] === undefined || typeof body !== "object" || body === null)
    return `the server at ${url} is not clobsim`;
  const { code, error, hint } = body;
  if (code === "SIM_TOKEN_REQUIRED")
    return hasToken
      ? `the clobsim at ${url} has another token: --sim-token expects the one that it was started with`
      : `the clobsim at ${url} requires its token: give it as --sim-token or CLOBSIM_SIM_TOKEN`;
  if (code === "ROUTE_NOT_FOUND" && pathname !== "/")
    return `the clobsim at ${origin} has no pool: leave out ${pathname}`;
  if (code === "ROUTE_NOT_FOUND") return `the clobsim at ${url} is too old to ${what}`;
  return `the clobsim at ${url} cannot ${what}: ${error}${hint === undefined ? "" : ` (${hint})`}`;
}
