import * as z from "zod";
import { type Account, availableOf, type Balance, onChainOf } from "../core/account.ts";
import { tokenIdIn } from "../core/market.ts";
import type { Outcome } from "../core/terms.ts";
import { MAX_USDC, type Size } from "../core/units.ts";
import { endpoints, paged } from "./endpoint.ts";
import { objectBody } from "./request-body.ts";
import * as field from "./schemas.ts";
import { exactly, page, type ReplyOf } from "./schemas.ts";
import { checksummed, type Decimal, type View } from "./view.ts";

const balance = <Amount extends z.ZodType>(amount: Amount) => ({
  balance: amount,
  available: amount,
  reserved: amount,
  onChain: amount,
});

const accountSchema = exactly("Account", {
  address: field.address,
  collateral: z.strictObject(balance(field.usdc)),
  sharesOfEveryOtherToken: field.shares,
  tokens: z.array(
    z.strictObject({
      ...{ tokenId: field.tokenId, marketId: field.uuid, outcome: field.outcome },
      ...balance(field.shares),
    }),
  ),
});

const credentialsSchema = exactly("Credentials", {
  apiKey: field.uuid,
  secret: field.digest,
  passphrase: field.digest,
});

const amount = (step: number) => z.number().min(0).max(MAX_USDC).meta({ multipleOf: step });

/** POST /clob/auth/derive-api-key (contract, section 2). */
export const credentialsEndpoints = endpoints("public", "Credentials", {
  deriveApiKey: {
    route: "POST /clob/auth/derive-api-key",
    summary: "Derive API credentials from a wallet signature; the secret is shown once",
    body: objectBody(
      "Derivation",
      {
        address: z.string().optional(),
        signature: z.string().optional(),
        timestamp: z.union([z.string(), z.int()]).optional(),
        nonce: z.union([z.string(), z.int()]).optional(),
      },
      {
        description:
          "The same fields may be sent as headers poly_address, poly_signature, poly_timestamp, poly_nonce.",
        required: false,
        code: "INVALID_AUTH_PAYLOAD",
      },
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
    query: paged(50, 500),
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
    body: objectBody("Funding", {
      collateral: amount(0.000001).optional().describe("USDC to add."),
      tokens: z.record(z.string(), amount(0.01)).optional().describe("Shares to add, by token id."),
    }),
    reply: accountSchema,
    errors: ["TOKEN_NOT_FOUND"],
  },
  issueCredentials: {
    route: "POST /sim/accounts/{address}/credentials",
    summary: "Issue API credentials of any address without a wallet signature",
    description:
      "Like `POST /clob/auth/derive-api-key` without a signature: new credentials each time, and funds the first time. No body is needed.",
    reply: credentialsSchema,
    errors: ["CREDENTIALS_ALREADY_DERIVED"],
  },
});

/** Returns a shell command that gets an address's credentials from `url`; `needsToken`: whether /sim requires a token. */
export const credentialsCurl = (url: string, address: string, needsToken: boolean): string =>
  `curl -X POST ${needsToken ? "-H x-sim-token:$CLOBSIM_SIM_TOKEN " : ""}${url}/sim/accounts/${address}/credentials`;

/**
 * Builds the balances of an address (contract, section 7): USDC, shares of the markets it has touched, and the number of
 * shares granted of each other token. `onChain` is the balance of its wallet on the settlement chain.
 */
export function accountReply(view: View, account: Account): ReplyOf<typeof accountSchema> {
  const { state, numbers } = view;
  const balanceReply = <Amount extends number>(
    of: Balance<Amount>,
    decimal: (amount: Amount) => Decimal,
  ) => ({
    balance: decimal(of.balance),
    available: decimal(availableOf(of, state.config.balances)),
    reserved: decimal(of.reserved),
    onChain: decimal(onChainOf(of)),
  });
  const holdings = [...account.holdings].sort(([a], [b]) => a - b);
  return {
    address: checksummed(account.address),
    collateral: balanceReply(account.collateral, numbers.money),
    sharesOfEveryOtherToken: numbers.size(account.everyMarket),
    tokens: holdings.flatMap(([number, { yes, no }]) => {
      const market = state.markets.get(number);
      const shares = (outcome: Outcome, shares: Balance<Size>) => ({
        tokenId: tokenIdIn(market, outcome),
        marketId: market.id,
        outcome,
        ...balanceReply(shares, numbers.size),
      });
      return [shares("YES", yes), shares("NO", no)];
    }),
  };
}
