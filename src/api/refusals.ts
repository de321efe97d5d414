import { confirmationsOf, headOf } from "../core/chain/chain.ts";
import { counted, plainNumber, priceText } from "../core/format.ts";
import { detailsOf, type Refusal, type RefusalCode, type RefusalOf, refusalText } from "../core/refusals.ts";
import { toIso } from "../core/time.ts";
import { FULL_PRICE, type Money, type Price, type Size } from "../core/units.ts";
import { ApiError, type ErrorCode, type ErrorHelp } from "./errors.ts";
import { checksummed, hintForToken, type Numbers, type View } from "./view.ts";

/** Names the valid prices next to one that is not a multiple of the tick size. */
function nearestPrices(found: number, tickSize: Price): string {
  const below = Math.floor((found * FULL_PRICE) / tickSize) * tickSize;
  const valid = [below, below + tickSize].filter((units) => units > 0 && units < FULL_PRICE).map(priceText);
  return `nearest valid prices: ${valid.join(", ")}`;
}

/** Error for a price with more decimals than any tick size. */
export const offTheGrid = (found: number, tickSize: Price, numbers: Numbers): ApiError =>
  new ApiError(
    "INVALID_TICK_SIZE",
    `price ${plainNumber(found)} is not a multiple of the tick size ${priceText(tickSize)}`,
    {
      hint: nearestPrices(found, tickSize),
      details: { price: numbers.sent(found), tickSize: numbers.price(tickSize) },
    },
  );

/** API codes of the core's refusals that have no API code of the same name. */
const CODES: Readonly<Record<Exclude<RefusalCode, ErrorCode>, ErrorCode>> = {
  ORDER_NOT_LIVE: "ORDER_NOT_FOUND",
  SLUG_TAKEN: "INVALID_PARAMETER",
  ISSUANCE_EXCEEDED: "INVALID_PARAMETER",
  REORGANIZATION_TOO_DEEP: "INVALID_PARAMETER",
  INTRINSIC_GAS_TOO_LOW: "INVALID_PARAMETER",
  TIP_ABOVE_FEE_CAP: "INVALID_PARAMETER",
  NONCE_TOO_LOW: "INVALID_PARAMETER",
  TRANSACTION_ALREADY_KNOWN: "INVALID_PARAMETER",
  REPLACEMENT_UNDERPRICED: "INVALID_PARAMETER",
  INSUFFICIENT_GAS_MONEY: "INVALID_PARAMETER",
};

/** Builds the hint and details of a refusal, and its message if the API's differs. */
type Help<Code extends RefusalCode> = (
  refusal: RefusalOf<Code>,
  view: View,
) => ErrorHelp & { readonly message?: string };

/** Help for refusals whose own message and details are not enough. */
const HELPS: { readonly [Code in RefusalCode]?: Help<Code> } = {
  TOKEN_NOT_FOUND: ({ tokenId }, view) => ({ hint: hintForToken(view, tokenId) }),
  SLUG_TAKEN: () => ({
    hint: "leave slug out to have a free one made of the question or title",
    details: { fields: ["slug"] },
  }),
  INVALID_TICK_SIZE: ({ price, tickSize }) => ({ hint: nearestPrices(price / FULL_PRICE, tickSize) }),
  EXPIRATION_IN_PAST: () => ({ hint: "GET /clob/time tells the server's time" }),
  MARKET_CLOSED: ({ market: number }, view) => {
    const market = view.state.markets.get(number);
    return { details: { marketId: market.id, marketStatus: market.status } };
  },
  INSUFFICIENT_BALANCE: ({ asset, incoming, ...amounts }, { numbers, state }) => {
    const isMoney = asset === "USDC";
    const decimal = (units: number): number | string =>
      isMoney ? numbers.money(units as Money) : numbers.size(units as Size);
    const isAwaited = state.config.balances === "settled" && incoming > 0;
    return {
      hint: isAwaited
        ? `${decimal(incoming)} ${isMoney ? "USDC" : "shares"} more can be spent when the trades that bring them are MINED`
        : "cancel open orders, or fund the account: POST /sim/accounts/{address}/fund",
      details: {
        asset,
        required: decimal(amounts.required),
        available: decimal(amounts.available),
        balance: decimal(amounts.balance),
        reserved: decimal(amounts.reserved),
      },
    };
  },
  CREDENTIALS_ALREADY_DERIVED: ({ address }) => ({
    message: `${checksummed(address)} has derived credentials before`,
    hint: "the secret is shown once with --credentials once; --credentials rotate issues a new set each time",
  }),
  REORGANIZATION_TOO_DEEP: (_, { state }) => ({
    hint: reorganizationLimit(state),
    details: { fields: ["depth"] },
  }),
};

/** Converts a refusal of the core to an API error. */
export function refusalError(refusal: Refusal, view: View): ApiError {
  const codes: Readonly<Partial<Record<RefusalCode, ErrorCode>>> = CODES;
  const code = codes[refusal.code] ?? (refusal.code as ErrorCode);
  const help = HELPS[refusal.code] as Help<RefusalCode> | undefined;
  const { message = refusalText(refusal, view.state), ...rest } = help?.(refusal, view) ?? {};
  const details = { ...rest.details, ...detailsIn(refusal, view) };
  return new ApiError(code, message, { ...rest, ...(Object.keys(details).length > 0 && { details }) });
}

/** Says why no more blocks can be undone. */
function reorganizationLimit({ chain, config }: View["state"]): string {
  const confirmations = confirmationsOf(config.settlement);
  if (confirmations === 0) return "with --settlement instant every block is final at once";
  const mined = headOf(chain);
  if (mined >= confirmations) return "a block with two others on top is final";
  return mined === 0 ? "no block has been mined yet" : `${counted(mined, "block")} mined so far`;
}

function detailsIn(refusal: Refusal, { numbers }: View): Readonly<Record<string, unknown>> {
  const units = detailsOf(refusal.code) ?? {};
  const values = refusal as unknown as Readonly<Record<string, never>>;
  const details = Object.entries(units).map(([name, unit]) => {
    const value = values[name] as never;
    if (unit === "count") return [name, value];
    return [name, unit === "moment" ? toIso(value) : numbers[unit](value)];
  });
  return Object.fromEntries(details);
}
