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

/** With what a client is made. */
export interface ClientOptions {
  /** The wallet that derives credentials: an account of viem's, or what `walletOf` answers. */
  readonly account?: WalletAccount;
  /** Credentials that were derived before. */
  readonly credentials?: SigningCredentials;
  /** Where the time of signed requests comes from; default `local`. */
  readonly time?: TimeSource;
  /** Instead of HTTP over connections of the client's own; who gives one closes it. */
  readonly transport?: Transport;
  /** The server's `--sim-token`, sent to `/sim` only. */
  readonly simToken?: string;
  /** The chain that a derivation is signed for; default 137. */
  readonly chainId?: number;
  /** After how long a reply that is not whole counts as lost; default 30,000. */
  readonly timeoutMs?: number;
}

const ACCOUNT = objectWith("a wallet, such as await walletOf(privateKey)", {
  address: TEXT,
  signTypedData: FUNCTION,
  signMessage: FUNCTION,
});

const CREDENTIALS = objectWith("{ address, apiKey, secret, passphrase }, four texts", {
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

/** @throws TypeError naming an option that is not what it should be, what was expected and what was found. */
export function requireOptions(options: ClientOptions): void {
  const fault = faultOfOptions(options, OPTION_TYPES);
  if (fault !== undefined) throw new TypeError(fault);
}
