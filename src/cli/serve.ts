import { credentialsCurl } from "../api/accounts.ts";
import { type RunningServer, startServer } from "../compose.ts";
import { type Config, DEFAULT_DATA, readConfig } from "../config.ts";
import { CHAIN_ID } from "../core/chain/chain.ts";
import { toIso } from "../core/time.ts";
import { millis } from "../core/units.ts";
import { count } from "../scenario/report/text.ts";
import { VERSION } from "../version.ts";
import type { Run } from "./commands.ts";
import { paintOf, warn } from "./output.ts";
import { EXIT, stopSignal } from "./process.ts";

/** Width of a line with number, address and private key. */
const ACCOUNT_WIDTH = 116;

/**
 * Returns the text that `clobsim serve` prints when it is ready: addresses, settings, accounts and a command to try.
 * `columns` is the width of the terminal.
 */
export function bannerText(
  server: Omit<RunningServer, "close">,
  { simToken, bots }: Pick<Config, "simToken" | "bots">,
  { bold, cyan, dim }: ReturnType<typeof paintOf>,
  columns = ACCOUNT_WIDTH,
): string {
  const { pool } = server;
  const url = pool === null ? server.url : `${server.url}/1`;
  const row = (label: string, text: string): string => `  ${dim(label.padEnd(12))}${text}`;
  const address = (label: string, path: string): string => row(label, cyan(`${url}${path}`));
  const { events, markets, sampleTokenId } = server;
  const { mode, rate } = server.clock;
  const numbered = (texts: readonly string[]): string[] =>
    texts.map((text, index) => `  ${dim(`${index}`.padStart(2))}  ${text}`);
  const accounts = server.devAccounts.map(
    ({ address, privateKey }) =>
      `${address}${columns >= ACCOUNT_WIDTH ? "  " : `\n${" ".repeat(6)}`}${dim(privateKey)}`,
  );
  const keys = server.devAccounts.map(({ address }) => credentialsCurl(url, address, simToken !== null));
  const lines = [
    "",
    `${bold("clobsim")} ${VERSION} answers at ${cyan(url)}${pool === null || pool === 1 ? "" : ` to ${cyan(`/${pool}`)}`}`,
    "",
    address("inspector", "/"),
    address("market data", "/api"),
    address("trading", "/clob"),
    address("control", "/sim"),
    row("chain", `${cyan(`${url}/chain`)}, id ${CHAIN_ID}`),
    address("OpenAPI", "/openapi.json"),
    "",
    ...(pool === null ? [] : [row("pool", `${count(pool, "exchange")}, each opened at its first request`)]),
    row("seed", server.seed),
    row("clock", `${mode === "scaled" ? `${rate}x` : mode}, ${toIso(millis(server.startedAt))}`),
    row("world", `${count(events, "event")}, ${count(markets, "market")}`),
    ...(bots === null ? [] : [row("bots", bots)]),
    ...(server.from === null ? [] : [row("from", `${server.from.name}, up to line ${server.from.line}`)]),
    row("data", dataText(server.persisted)),
    "",
  ];
  if (keys.length > 0) {
    lines.push(
      "  Dev accounts, address and private key: anybody can compute them, never use them on a real chain.",
      ...["", ...numbered(accounts), ""],
      "  Their API keys, without a wallet's signature:",
      ...["", ...numbered(keys), ""],
    );
  }
  if (sampleTokenId !== null) {
    lines.push(`  Try ${bold(`curl "${url}/clob/book?token_id=${sampleTokenId}"`)}`, "");
  }
  return `${lines.join("\n")}\n`;
}

function dataText(persisted: RunningServer["persisted"]): string {
  if (persisted === null) return "in memory";
  const { path, resumed, removed } = persisted;
  if (resumed === null)
    return `in ${path}, new${removed.length === 0 ? "" : `; removed ${removed.join(", ")}`}`;
  const { commands, from } = resumed;
  const base = from.number === 0 ? "" : " after the latest state";
  return `in ${path}, resumed: ${count(commands, "command")}${base}`;
}

/** `clobsim serve`: opens an exchange and serves it until a signal stops it. */
export const serve: Run<"serve"> = async (_values, _words, given, progress) => {
  const config = readConfig(given, DEFAULT_DATA);
  const stopped = stopSignal();
  const server = await startServer(config, warn);
  progress.end();
  // Not by FORCE_COLOR, because scripts read the addresses and keys.
  const paint = paintOf({ ...given.environment, FORCE_COLOR: "" });
  process.stdout.write(bannerText(server, config, paint, process.stdout.columns));
  await stopped;
  warn("stopping");
  await server.close();
  const broken = server.persisted?.broken ?? null;
  if (broken === null) return EXIT.ok;
  warn(`${broken.message}; ${broken.answered}`);
  return broken.reason === "defect" ? EXIT.defect : EXIT.disk;
};
