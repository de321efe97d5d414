// Generated from SETTINGS of src/config.ts by `npx vitest run test/start-options.test.ts -u`.

/**
 * The settings of `clobsim serve`, as docs/reference/configuration.md explains them. Three defaults differ: `port` is 0
 * (any free port), `logLevel` is silent, and nothing is written to disk unless `data` names a directory.
 */
export interface StartOptions {
  /** Port to listen on; 0 takes a free one. */
  readonly port?: number;
  /** Host name or IP address to listen on. */
  readonly host?: string;
  /** Number of exchanges to serve, at /1, /2 and so on, each created at its first request. */
  readonly pool?: number;
  /** Decides the world and every id, secret and hash. */
  readonly seed?: string | number;
  /** World to open instead of a generated one: a file (see clobsim world), tiny or small. */
  readonly world?: string;
  /** Report or data directory to continue, in memory unless --data names a new directory. */
  readonly from?: string;
  /** With --from: after this line, or at this time. */
  readonly at?: string | number;
  /** Number of markets to generate. */
  readonly markets?: number;
  /** real, frozen, or a rate such as 5x or 0.5x. */
  readonly clock?: "real" | "frozen" | `${number}x`;
  /** Start of virtual time, such as 2026-01-01T00:00Z. */
  readonly start?: string;
  /** Bots that trade in virtual time: thin, normal, busy or toxic. */
  readonly bots?: "thin" | "normal" | "busy" | "toxic";
  /** Decimals in JSON: number or string. */
  readonly numbers?: "number" | "string";
  /** Deriving API credentials again: rotate issues new ones, once refuses. */
  readonly credentials?: "rotate" | "once";
  /** False: accept only EIP-712 wallet signatures. */
  readonly personalSign?: boolean;
  /** Unknown fields in requests to /api and /clob: accept (with a warning) or refuse. */
  readonly unknownFields?: "accept" | "refuse";
  /** Mining of blocks: instant, auto (every 2 s while a transaction is pending or not final) or manual. */
  readonly settlement?: "instant" | "auto" | "manual";
  /** When the proceeds of a fill can be spent: at once (optimistic) or when it is mined (settled). */
  readonly balances?: "optimistic" | "settled";
  /** Approvals of the exchange's contracts: granted to known wallets, or required from each wallet. */
  readonly approvals?: "granted" | "required";
  /** USDC, and shares of every outcome, that a new wallet receives. */
  readonly faucet?: number;
  /** How long a client may take to send its request. */
  readonly requestTimeout?: string;
  /** silent, fatal, error, warn, info, debug or trace. */
  readonly logLevel?: "silent" | "fatal" | "error" | "warn" | "info" | "debug" | "trace";
  /** Data directory of the exchange. */
  readonly data?: string;
  /** Write nothing to disk. */
  readonly ephemeral?: boolean;
  /** What an answered request survives: process (a crash or kill -9), power (also a power failure), memory (nothing). */
  readonly durability?: "process" | "power" | "memory";
  /** Delete the exchange in the data directory and start again. */
  readonly reset?: boolean;
  /** Directory for a report of each defect, for clobsim replay. */
  readonly report?: string;
  /** Secret for /sim, required beyond loopback; better set as CLOBSIM_SIM_TOKEN. */
  readonly simToken?: string;
  /** Host name allowed besides loopback names; repeatable. */
  readonly allowHost?: string | readonly string[];
}
