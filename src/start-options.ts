// Made from SETTINGS of src/config.ts by `npx vitest run test/start-options.test.ts -u`.

/**
 * The settings of `clobsim serve`, as docs/reference/configuration.md explains them. Other defaults than there: `port` 0,
 * a free one; `logLevel` silent; nothing is kept on disk unless `data` names a directory.
 */
export interface StartOptions {
  /** Port to listen on; 0 takes any free one. */
  readonly port?: number;
  /** Host name or IP address to listen on. */
  readonly host?: string;
  /** Serve so many exchanges, at /1, /2 and so on, each made when it is first asked for. */
  readonly pool?: number;
  /** Decides the world and every id, secret and hash. */
  readonly seed?: string | number;
  /** File, or world that comes with clobsim, to open instead of generating one (see clobsim world). */
  readonly world?: string;
  /** Report or data directory whose history to continue, in memory unless --data names a new directory. */
  readonly from?: string;
  /** With --from: after this line, or at this moment. */
  readonly at?: string | number;
  /** How many markets to generate. */
  readonly markets?: number;
  /** real, frozen, or a rate such as 5x or 0.5x. */
  readonly clock?: "real" | "frozen" | `${number}x`;
  /** Moment at which time starts, such as 2026-01-01T00:00Z. */
  readonly start?: string;
  /** Traders that act by themselves in virtual time: thin, normal, busy or toxic. */
  readonly bots?: "thin" | "normal" | "busy" | "toxic";
  /** How JSON carries decimals: number or string. */
  readonly numbers?: "number" | "string";
  /** Deriving API credentials again: rotate issues new ones, once refuses. */
  readonly credentials?: "rotate" | "once";
  /** False: accept only EIP-712 wallet signatures. */
  readonly personalSign?: boolean;
  /** Fields that /api and /clob do not know: accept (with a warning) or refuse. */
  readonly unknownFields?: "accept" | "refuse";
  /** Blocks of the settlement chain: instant, auto (every 2 s while something is pending) or manual. */
  readonly settlement?: "instant" | "auto" | "manual";
  /** What a fill brings can be spent at once (optimistic) or when it is mined (settled). */
  readonly balances?: "optimistic" | "settled";
  /** Whether the wallets that the exchange knows have approved its contracts, or have to (required). */
  readonly approvals?: "granted" | "required";
  /** USDC, and shares of every outcome, that a new wallet receives. */
  readonly faucet?: number;
  /** How long a client may take to send its request. */
  readonly requestTimeout?: string;
  /** silent, fatal, error, warn, info, debug or trace. */
  readonly logLevel?: "silent" | "fatal" | "error" | "warn" | "info" | "debug" | "trace";
  /** Directory that keeps the exchange. */
  readonly data?: string;
  /** Keep nothing on disk. */
  readonly ephemeral?: boolean;
  /** What an answered request survives: process (a crash or kill -9), power (a power failure, too), memory (nothing). */
  readonly durability?: "process" | "power" | "memory";
  /** Delete what the directory holds and start again. */
  readonly reset?: boolean;
  /** Directory for a report of each defect, to be replayed elsewhere. */
  readonly report?: string;
  /** Secret that /sim asks for, needed beyond loopback; better set as CLOBSIM_SIM_TOKEN. */
  readonly simToken?: string;
  /** Name that a Host header may carry besides loopback; repeatable. */
  readonly allowHost?: string | readonly string[];
}
