import {
  FUNCTION,
  faultOfOptions,
  type OptionType,
  objectWith,
  oneOf,
  SECRET,
  TEXT,
  whole,
} from "../api/option-types.ts";
import type { TimeSource } from "./connection.ts";
import type { SigningCredentials } from "./messages.ts";
import type { Transport } from "./transport.ts";
import type { WalletAccount } from "./wallet.ts";

/** Options of a client. */
export interface ClientOptions {
  /** Wallet that derives credentials: a viem account or the result of `walletOf`. */
  readonly account?: WalletAccount;
  /** Credentials derived earlier. */
  readonly credentials?: SigningCredentials;
  /** Source of the time in signed requests; default `local`. */
  readonly time?: TimeSource;
  /** Transport to use instead of the client's own HTTP connections; `close()` does not close it. */
  readonly transport?: Transport;
  /** Value of the server's `--sim-token`, sent to `/sim` only. */
  readonly simToken?: string;
  /** Chain id in the typed data that derives credentials; default 137. */
  readonly chainId?: number;
  /** Milliseconds within which a reply must be complete; default 30,000. */
  readonly timeoutMs?: number;
}

const ACCOUNT = objectWith("a wallet, such as await walletOf(privateKey)", {
  address: TEXT,
  signTypedData: FUNCTION,
  signMessage: FUNCTION,
});

const CREDENTIALS = objectWith("{ address, apiKey, secret, passphrase }, four strings", {
  address: TEXT,
  apiKey: TEXT,
  secret: TEXT,
  passphrase: TEXT,
});

const OPTION_TYPES: Readonly<Record<keyof ClientOptions, OptionType>> = {
  account: ACCOUNT,
  credentials: CREDENTIALS,
  time: oneOf(["local", "server"], { ...FUNCTION, expected: "a function that answers Unix seconds" }),
  transport: FUNCTION,
  simToken: SECRET,
  chainId: whole(1, Number.MAX_SAFE_INTEGER),
  timeoutMs: whole(1, 2_147_483_647),
};

/** Checks options. @throws TypeError with the name of an invalid option, what was expected and what was found. */
export function requireOptions(options: ClientOptions): void {
  const fault = faultOfOptions(options, OPTION_TYPES);
  if (fault !== undefined) throw new TypeError(fault);
}
