import { priceText, sizeText } from "../core/format.ts";
import type { Refusal, RefusalCode, RefusalOf, TransactionRefusal } from "../core/refusals.ts";
import { toIso } from "../core/time.ts";
import { FULL_PRICE, type Money, type Price, type Size } from "../core/units.ts";
import { unreachable } from "../core/unreachable.ts";
import { checksummed } from "./address.ts";
import type { Numbers } from "./decimals.ts";
import { ApiError, plain } from "./errors.ts";
import { marketIdOf, orderNotFound, tokenNotFound, type View } from "./view.ts";

/** Why a transaction is not taken in, in the words of Ethereum's nodes, by which their clients tell the cases apart. */
export function transactionRefusalText(refusal: TransactionRefusal): string {
  switch (refusal.code) {
    case "INTRINSIC_GAS_TOO_LOW":
      return `intrinsic gas too low: gas ${refusal.gas}, minimum needed ${refusal.needed}`;
    case "TIP_ABOVE_FEE_CAP":
      return `max priority fee per gas higher than max fee per gas: tip ${refusal.tip}, max fee ${refusal.maxFeePerGas}`;
    case "NONCE_TOO_LOW":
      return `nonce too low: next nonce ${refusal.next}, tx nonce ${refusal.nonce}`;
    case "TRANSACTION_ALREADY_KNOWN":
      return `already known: ${refusal.hash}`;
    case "REPLACEMENT_UNDERPRICED":
      return `replacement transaction underpriced: max fee ${refusal.offered}, minimum needed ${refusal.needed}`;
    case "INSUFFICIENT_GAS_MONEY":
      return `Insufficient funds for gas * price + value: have ${refusal.available} want ${refusal.needed}`;
    default:
      throw unreachable(refusal);
  }
}

/** Why a call that is only tried would revert, in the words of Ethereum's nodes. */
export const revertWords = (reason: string): string => `execution reverted: ${reason}`;

type Translations = { readonly [Code in RefusalCode]: (refusal: RefusalOf<Code>, view: View) => ApiError };

/** A price off the market's grid, with the valid ones next to it; `found` is the price as it was sent. */
export function offTheGrid(found: number, tickSize: Price, numbers: Numbers): ApiError {
  const below = Math.floor((found * FULL_PRICE) / tickSize) * tickSize;
  const valid = [below, below + tickSize].filter((units) => units > 0 && units < FULL_PRICE).map(priceText);
  return new ApiError(
    "INVALID_TICK_SIZE",
    `price ${plain(found)} is not a multiple of the tick size ${priceText(tickSize)}`,
    {
      hint: `nearest valid prices: ${valid.join(", ")}`,
      details: {
        price: numbers.mode === "string" || found < 1e-6 ? plain(found) : found,
        tickSize: numbers.price(tickSize),
      },
    },
  );
}

const translations: Translations = {
  EVENT_NOT_FOUND: ({ event }) => new ApiError("EVENT_NOT_FOUND", `there is no event number ${event}`),
  MARKET_NOT_FOUND: ({ market }) => new ApiError("MARKET_NOT_FOUND", `there is no market number ${market}`),
  TOKEN_NOT_FOUND: ({ tokenId }, view) => tokenNotFound(view, tokenId),
  ORDER_NOT_FOUND: ({ orderId }) => orderNotFound(orderId),
  ORDER_NOT_LIVE: ({ order }) => new ApiError("ORDER_NOT_FOUND", `order number ${order} is not live`),
  SLUG_TAKEN: ({ slug }) =>
    new ApiError("INVALID_PARAMETER", `slug ${JSON.stringify(slug)} is taken`, {
      hint: "leave slug out to have one made from the title",
      details: { fields: ["slug"] },
    }),
  INVALID_TICK_SIZE: ({ price: found, tickSize }, { numbers }) =>
    offTheGrid(found / FULL_PRICE, tickSize, numbers),
  SIZE_TOO_SMALL: ({ size, minOrderSize }, { numbers }) =>
    new ApiError(
      "SIZE_TOO_SMALL",
      `size ${sizeText(size)} is below the market's smallest order of ${sizeText(minOrderSize)} shares`,
      { details: { size: numbers.size(size), minOrderSize: numbers.size(minOrderSize) } },
    ),
  EXPIRATION_IN_PAST: ({ expiration, now }) =>
    new ApiError(
      "EXPIRATION_IN_PAST",
      `expiration ${toIso(expiration)} is not after the server's ${toIso(now)}`,
      {
        hint: "GET /clob/time tells the server's time",
        details: { expiration: toIso(expiration), serverTime: toIso(now) },
      },
    ),
  MARKET_CLOSED: ({ market: number }, view) => {
    const market = view.state.markets.get(number);
    return new ApiError("MARKET_CLOSED", `market ${market.slug} is ${market.status}`, {
      details: {
        marketId: marketIdOf(view, market),
        marketStatus: market.status,
      },
    });
  },
  INSUFFICIENT_BALANCE: insufficientBalance,
  ISSUANCE_EXCEEDED: ({ asked, left }, { numbers }) =>
    new ApiError(
      "INVALID_PARAMETER",
      `the exchange may issue ${numbers.money(left)} more USDC, asked for ${numbers.money(asked)}`,
      { details: { asked: numbers.money(asked), left: numbers.money(left) } },
    ),
  CREDENTIALS_ALREADY_DERIVED: ({ address }) =>
    new ApiError("CREDENTIALS_ALREADY_DERIVED", `${checksummed(address)} has derived credentials before`, {
      hint: "the secret is shown once with --credentials once; --credentials rotate issues a new set each time",
    }),
  REORGANIZATION_TOO_DEEP: ({ depth, most }) =>
    new ApiError("INVALID_PARAMETER", `a reorganization of ${depth} blocks would undo one that is final`, {
      hint:
        most === 0
          ? "no block can be undone now: with --settlement instant every block is final at once"
          : `at most ${most} can be undone now: a block with two others on top is final`,
      details: { fields: ["depth"], most },
    }),
  FAULT_NOT_FOUND: ({ number }) =>
    new ApiError("FAULT_NOT_FOUND", `there is no settlement fault ${number} in force`, {
      hint: "GET /sim/chain/faults lists those in force; one that has hit as many settlements as it was to is over",
    }),
  INTRINSIC_GAS_TOO_LOW: transactionRefused,
  TIP_ABOVE_FEE_CAP: transactionRefused,
  NONCE_TOO_LOW: transactionRefused,
  TRANSACTION_ALREADY_KNOWN: transactionRefused,
  REPLACEMENT_UNDERPRICED: transactionRefused,
  INSUFFICIENT_GAS_MONEY: transactionRefused,
};

/** A refusal of the core as the API tells it; the compiler keeps the table complete. */
export function refusalError(refusal: Refusal, view: View): ApiError {
  const translate = translations[refusal.code] as (refusal: Refusal, view: View) => ApiError;
  return translate(refusal, view);
}

function transactionRefused(refusal: TransactionRefusal): ApiError {
  return new ApiError("INVALID_PARAMETER", transactionRefusalText(refusal));
}

function insufficientBalance(refusal: RefusalOf<"INSUFFICIENT_BALANCE">, { numbers, state }: View): ApiError {
  const isMoney = refusal.asset === "USDC";
  const decimal = (units: number): number | string =>
    isMoney ? numbers.money(units as Money) : numbers.size(units as Size);
  const unit = isMoney ? "USDC" : "shares";
  const isAwaited = state.config.balances === "settled" && refusal.incoming > 0;
  return new ApiError(
    "INSUFFICIENT_BALANCE",
    `the order needs ${decimal(refusal.required)} ${unit}, available: ${decimal(refusal.available)}`,
    {
      hint: isAwaited
        ? `${decimal(refusal.incoming)} ${unit} more can be spent when the trades that bring them are MINED`
        : "cancel open orders, or fund the account: POST /sim/accounts/{address}/fund",
      details: {
        asset: refusal.asset,
        required: decimal(refusal.required),
        available: decimal(refusal.available),
        balance: decimal(refusal.balance),
        reserved: decimal(refusal.reserved),
      },
    },
  );
}
