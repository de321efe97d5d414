import colours from "picocolors";
import type { RunningServer } from "../compose.ts";
import { VERSION } from "../config.ts";
import { CHAIN_ID } from "../core/chain/chain.ts";
import { toIso } from "../core/time.ts";
import { count } from "../scenario/report/text.ts";

/** Where the banner is shown. */
export interface Screen {
  readonly isColoured: boolean;
  /** Undefined when it is no terminal. */
  readonly columns: number | undefined;
}

const LABEL_WIDTH = 12;
/** Number, address and private key on one line. */
const ACCOUNT_WIDTH = 116;

/** What `clobsim serve` says when it answers: where, what, and how to try it. */
export function bannerText(server: Omit<RunningServer, "close">, screen: Screen): string {
  const { bold, cyan, dim } = colours.createColors(screen.isColoured);
  const row = (label: string, text: string): string => `  ${dim(label.padEnd(LABEL_WIDTH))}${text}`;
  const address = (label: string, path: string): string => row(label, cyan(`${server.url}${path}`));
  const { events, markets, sampleTokenId } = server;
  const isWide = screen.columns === undefined || screen.columns >= ACCOUNT_WIDTH;
  const accounts = server.devAccounts.map(({ address, privateKey }, index) => {
    const number = `  ${dim(`${index}`.padStart(2))}  `;
    return `${number}${address}${isWide ? "  " : `\n${" ".repeat(6)}`}${dim(privateKey)}`;
  });
  const lines = [
    "",
    `${bold("clobsim")} ${VERSION} answers at ${cyan(server.url)}`,
    "",
    address("market data", "/api"),
    address("trading", "/clob"),
    address("control", "/sim"),
    row("chain", `${cyan(`${server.url}/chain`)}, id ${CHAIN_ID}`),
    address("OpenAPI", "/openapi.json"),
    "",
    row("seed", server.seed),
    row("clock", `${clockText(server.clock)}, ${toIso(server.startedAt)}`),
    row("world", `${count(events, "event")}, ${count(markets, "market")}`),
    ...(server.from === null ? [] : [row("from", `${server.from.name}, up to line ${server.from.line}`)]),
    row("kept", keepingText(server.keeping)),
    "",
    "  Dev accounts, address and private key: anybody can compute them, never use them on a real chain.",
    "",
    ...accounts,
    "",
  ];
  if (sampleTokenId !== null) {
    lines.push(`  Try ${bold(`curl "${server.url}/clob/book?token_id=${sampleTokenId}"`)}`, "");
  }
  return `${lines.join("\n")}\n`;
}

const clockText = ({ mode, rate }: RunningServer["clock"]): string => (mode === "scaled" ? `${rate}x` : mode);

function keepingText(keeping: RunningServer["keeping"]): string {
  if (keeping === null) return "nothing";
  const { path, resumed, removed } = keeping;
  if (resumed === null)
    return `in ${path}, new${removed.length === 0 ? "" : `; removed ${removed.join(", ")}`}`;
  const { commands, from } = resumed;
  const base = from.number === 0 ? "" : " after the latest state";
  return `in ${path}, resumed: ${count(commands, "command")}${base}`;
}
