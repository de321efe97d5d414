import * as z from "zod";
import { type Account, availableOf, type Balance, onChainOf } from "../core/account.ts";
import { tokenIdIn } from "../core/market.ts";
import type { Outcome } from "../core/terms.ts";
import type { Size } from "../core/units.ts";
import { checksumIn } from "./address.ts";
import { endpoints, limit, offset } from "./endpoint.ts";
import { objectBody } from "./request-body.ts";
import * as field from "./schemas.ts";
import { exactly, named, page, type ReplyOf } from "./schemas.ts";
import { marketIdOf, type View } from "./view.ts";

const balance = {
  balance: field.shares,
  available: field.shares,
  reserved: field.shares,
  onChain: field.shares,
};

const accountSchema = exactly("Account", {
  address: field.address,
  collateral: z.strictObject({
    balance: field.usdc,
    available: field.usdc,
    reserved: field.usdc,
    onChain: field.usdc,
  }),
  sharesOfEveryOtherToken: field.shares,
  tokens: z.array(
    z.strictObject({ tokenId: field.tokenId, marketId: field.uuid, outcome: field.outcome, ...balance }),
  ),
});

const credentialsSchema = exactly("Credentials", {
  apiKey: field.uuid,
  secret: field.digest,
  passphrase: field.digest,
});

const amount = (step: number) => z.number().min(0).max(1_000_000_000).meta({ multipleOf: step });

/** POST /clob/auth/derive-api-key (contract, section 2). */
export const credentialsEndpoints = endpoints("public", "Credentials", {
  deriveApiKey: {
    route: "POST /clob/auth/derive-api-key",
    summary: "Derive API credentials from a wallet signature; the secret is shown once",
    body: objectBody(
      named(
        "Derivation",
        z.object({
          address: z.string().optional(),
          signature: z.string().optional(),
          timestamp: z.union([z.string(), z.int()]).optional(),
          nonce: z.union([z.string(), z.int()]).optional(),
        }),
        "The same four may be sent as headers poly_address, poly_signature, poly_timestamp, poly_nonce.",
      ),
      { required: false, code: "INVALID_AUTH_PAYLOAD" },
    ),
    reply: credentialsSchema,
    errors: [
      "INVALID_AUTH_PAYLOAD",
      "CONFLICTING_FIELDS",
      "DUPLICATE_AUTH_HEADER",
      "TIMESTAMP_OUT_OF_WINDOW",
      "INVALID_WALLET_SIGNATURE",
      "CREDENTIALS_ALREADY_DERIVED",
    ],
  },
});

/** /sim/accounts (contract, section 7). */
export const accountEndpoints = endpoints("control", "Control plane", {
  listAccounts: {
    route: "GET /sim/accounts",
    summary: "All accounts, oldest first",
    query: { limit: limit(50, 500), offset },
    reply: page("AccountPage", accountSchema),
  },
  getAccount: {
    route: "GET /sim/accounts/{address}",
    summary: "Balances of one address",
    reply: accountSchema,
  },
  fundAccount: {
    route: "POST /sim/accounts/{address}/fund",
    summary: "Add USDC and shares; shares are minted as full sets",
    body: objectBody(
      named(
        "Funding",
        z.object({
          collateral: amount(0.000001).optional().meta({ description: "USDC to add." }),
          tokens: z
            .record(z.string(), amount(0.01))
            .optional()
            .meta({ description: "Shares to add, by token id." }),
        }),
      ),
    ),
    reply: accountSchema,
    errors: ["TOKEN_NOT_FOUND"],
  },
  issueCredentials: {
    route: "POST /sim/accounts/{address}/credentials",
    summary: "API credentials of any address, without a wallet signature",
    description:
      "Does what `POST /clob/auth/derive-api-key` does for a wallet that signs: a new set each time, and funds the first time. No body is needed.",
    reply: credentialsSchema,
    errors: ["CREDENTIALS_ALREADY_DERIVED"],
  },
});

/** Returns a shell command that gets an address's credentials from `url`; `asksToken`: whether /sim requires a token. */
export const credentialsCurl = (url: string, address: string, asksToken: boolean): string =>
  `curl -X POST ${asksToken ? "-H x-sim-token:$CLOBSIM_SIM_TOKEN " : ""}${url}/sim/accounts/${address}/credentials`;

/**
 * What an address has (contract, section 7): USDC, shares of the markets it has touched, and how many it is granted of
 * each token of all others. `onChain` is what its wallet holds on the settlement chain.
 */
export function accountReply(view: View, account: Account): ReplyOf<typeof accountSchema> {
  const { state, numbers } = view;
  const { collateral } = account;
  const holdings = [...account.holdings].sort(([a], [b]) => a - b);
  return {
    address: checksumIn(view.checksums, account.address),
    collateral: {
      balance: numbers.money(collateral.balance),
      available: numbers.money(availableOf(collateral, state.config.balances)),
      reserved: numbers.money(collateral.reserved),
      onChain: numbers.money(onChainOf(collateral)),
    },
    sharesOfEveryOtherToken: numbers.size(account.everyMarket),
    tokens: holdings.flatMap(([number, { yes, no }]) => {
      const market = state.markets.get(number);
      const shares = (outcome: Outcome, of: Balance<Size>) => ({
        tokenId: tokenIdIn(market, outcome),
        marketId: marketIdOf(view, market),
        outcome,
        balance: numbers.size(of.balance),
        available: numbers.size(availableOf(of, state.config.balances)),
        reserved: numbers.size(of.reserved),
        onChain: numbers.size(onChainOf(of)),
      });
      return [shares("YES", yes), shares("NO", no)];
    }),
  };
}
