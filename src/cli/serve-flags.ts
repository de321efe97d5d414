import { DEFAULT_DATA, type SettingName } from "../config.ts";
import type { Flag } from "./command.ts";

const ADDRESS = "Address:";
const WORLD = "World and time:";
const BEHAVIOUR = "Behaviour:";
const KEEPING = "What is kept:";
const SAFETY = "Who may call:";

const HELP: Readonly<Record<SettingName, Omit<Flag, "name">>> = {
  port: { group: ADDRESS, text: "Port to listen on; 0 takes any free one", otherwise: "7070" },
  host: { group: ADDRESS, text: "Host name or IP address to listen on", otherwise: "127.0.0.1" },
  seed: { group: WORLD, text: "Decides the world and every id, secret and hash", otherwise: "1" },
  world: { group: WORLD, text: "File to open instead of generating a world (see clobsim world)" },
  from: {
    group: WORLD,
    text: "Report or data directory whose history to go on from, kept nowhere unless --data names a new directory",
  },
  at: { group: WORLD, text: "With --from: after this line, or at this moment", otherwise: "the end" },
  markets: { group: WORLD, text: "How many markets to generate", otherwise: "what 12 events hold" },
  clock: { group: WORLD, text: "real, frozen, or a rate such as 5x or 0.5x", otherwise: "real" },
  start: {
    group: WORLD,
    text: "Moment at which time starts, such as 2026-01-01T00:00Z",
    otherwise: "now, or 2026-01-01 when frozen",
  },
  numbers: { group: BEHAVIOUR, text: "How JSON carries decimals: number or string", otherwise: "number" },
  credentials: {
    group: BEHAVIOUR,
    text: "Deriving API credentials again: rotate issues new ones, once refuses",
    otherwise: "rotate",
  },
  "personal-sign": { group: BEHAVIOUR, text: "Accept only EIP-712 wallet signatures", toggle: "off" },
  "unknown-fields": {
    group: BEHAVIOUR,
    text: "Fields that /api and /clob do not know: accept (with a warning) or refuse",
    otherwise: "accept",
  },
  settlement: {
    group: BEHAVIOUR,
    text: "Blocks of the settlement chain: instant, auto (every 2 s while something is pending) or manual",
    otherwise: "auto",
  },
  balances: {
    group: BEHAVIOUR,
    text: "What a fill brings can be spent at once (optimistic) or when it is mined (settled)",
    otherwise: "optimistic",
  },
  faucet: { group: BEHAVIOUR, text: "USDC and shares that a new wallet is given", otherwise: "10000" },
  "request-timeout": {
    group: BEHAVIOUR,
    text: "How long a client may take to send its request",
    otherwise: "10s",
  },
  "log-level": {
    group: BEHAVIOUR,
    text: "silent, fatal, error, warn, info, debug or trace",
    otherwise: "info",
  },
  data: { group: KEEPING, text: "Directory that keeps the exchange", otherwise: DEFAULT_DATA },
  ephemeral: { group: KEEPING, text: "Keep nothing on disk", toggle: "on" },
  durability: {
    group: KEEPING,
    text: "What an answered request survives: process (kill -9, a crash), power (the machine's end, too), memory (nothing)",
    otherwise: "process",
  },
  reset: { group: KEEPING, text: "Remove what the directory holds and start anew", toggle: "on" },
  report: { group: KEEPING, text: "Directory for a report of each defect, to be replayed elsewhere" },
  "sim-token": {
    group: SAFETY,
    text: "Secret that /sim asks for, needed beyond loopback; better set as CLOBSIM_SIM_TOKEN",
  },
  "allow-host": { group: SAFETY, text: "Name that a Host header may carry besides loopback; repeatable" },
};

/** The flags of `clobsim serve`: one for each setting. */
export const SERVE_FLAGS: readonly Flag[] = Object.entries(HELP).map(([name, help]) => ({ name, ...help }));
