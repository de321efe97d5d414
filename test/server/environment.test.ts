import { afterAll, beforeAll, expect, it } from "vitest";
import { TINY_WORLD, yesOf } from "../support/http.ts";
import { Program, type Served } from "../support/program.ts";
import { titleOf } from "./bad-inputs.ts";
import type { Credentials, Market, Refusal } from "./replies.ts";
import { hmac } from "./trader.ts";
import { signPersonal, wallet } from "./wallet.ts";

const ENVIRONMENTS = [
  { LANG: "C", LC_ALL: "C", TZ: "UTC" },
  { LANG: "tr_TR.UTF-8", LC_ALL: "tr_TR.UTF-8", TZ: "Pacific/Kiritimati" },
  { LANG: "sv_SE.UTF-8", LC_ALL: "sv_SE.UTF-8", TZ: "America/New_York" },
] as const;

const EXPIRATIONS = [
  ...["2026-02-30T00:00:00Z", "foo 2026", "2026-1-1", "2026-01-01T00:00:00", "Jan 1 2026", "1"],
  ...["2026-01-01T00:00:00-05:00"],
];

let program: Program;

beforeAll(async () => {
  program = await Program.bundled(["--ephemeral", "--world", TINY_WORLD]);
});
afterAll(() => program.dispose());

/** The replies of a server to a fixed list of requests, as text. */
async function answersOf({ url }: Served): Promise<string[]> {
  const answers: string[] = [];
  const headers = { "content-type": "application/json" };
  const ask = async (path: string, body?: object, more = {}): Promise<string> => {
    const sending = body && { method: "POST", headers: { ...headers, ...more }, body: JSON.stringify(body) };
    const reply = await fetch(url + path, sending);
    const text = await reply.text();
    answers.push(`${reply.status} ${path} ${text}`);
    return text;
  };
  for (const title of ["İSTANBUL derby", "Hauptstraße flooded", "Zürich, ångström and ı"]) {
    await ask("/sim/events", { title });
  }
  const question = "Will it rain in İstanbul?";
  const market = JSON.parse(
    await ask("/sim/markets", { question, endDate: "2026-03-01T12:00:00+03:00" }),
  ) as Market;
  for (const q of ["İSTANBUL", "straße", "ISTANBUL", "ıstanbul", "ångström", "i"]) {
    await ask(`/api/search?q=${encodeURIComponent(q)}`);
  }
  const account = wallet(1);
  const signed = { address: account.address, signature: await signPersonal(account) };
  const { apiKey, secret, passphrase } = JSON.parse(
    await ask("/clob/auth/derive-api-key", signed),
  ) as Credentials;
  const order = { tokenId: yesOf(market), side: "BUY", price: 0.5, size: 5, orderType: "GTD" };
  for (const expiration of EXPIRATIONS) {
    const body = { ...order, expiration };
    await ask("/clob/order", body, {
      poly_address: account.address,
      poly_api_key: apiKey,
      poly_passphrase: passphrase,
      poly_timestamp: "1767225600",
      poly_signature: hmac(secret, `1767225600POST/order${JSON.stringify(body)}`),
    });
  }
  for (const path of ["/api/markets?sort=endDate", "/api/events", "/sim/state", "/sim/orders/none"])
    await ask(path);
  return answers;
}

it(`${titleOf("Q08")}; and the expirations of O09`, async () => {
  const all = await Promise.all(
    ENVIRONMENTS.map(async (environment) => {
      const server = await program.serve(["--clock", "frozen", "--log-level", "silent"], { environment });
      const answers = await answersOf(server);
      await server.end("SIGTERM");
      return answers;
    }),
  );
  const [first = [], ...others] = all;
  for (const other of others) expect(other).toEqual(first);
  const found = (q: string): string =>
    first.find((answer) => answer.includes(`?q=${encodeURIComponent(q)} `)) ?? "";
  expect(found("İSTANBUL")).toContain("İSTANBUL derby");
  expect(found("straße")).toContain('"total":0');
  const codes = first
    .filter((answer) => answer.includes(" /clob/order "))
    .map((answer) => (JSON.parse(answer.slice(answer.indexOf("{"))) as Refusal).code ?? "placed");
  expect(codes).toEqual([...Array(5).fill("INVALID_EXPIRATION"), "EXPIRATION_IN_PAST", "placed"]);
});
