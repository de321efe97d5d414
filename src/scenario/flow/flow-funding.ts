import { FULL_PRICE, MAX_ISSUANCE, notional, type Size, size } from "../../core/units.ts";
import { type DrawSubject, MOST_ADDED } from "./order-draw.ts";
import { HIGHEST_FEE_BPS } from "./rehearsal.ts";

/** More than what is needed, so that accounts seldom stand in for one another. */
const AMPLE = 4;
const ROUND = 1000 * 100;
/** Of what an exchange may issue, one part in so many may fund one flow. */
const SHARE_OF_ISSUANCE = 4;

/**
 * With how many shares of each outcome, and as many USDC, every account starts so that somebody can pay for each order.
 *
 * Let M be the largest order, in shares and so at most in USDC, fee included. An order that pushes YES up is paid in USDC
 * or in shares of NO; if nobody could pay, n accounts would have less than 2nM of both free. But all USDC and NO together
 * never change by a fill, whatever changes hands, is minted or merged; only fees take away from them, at most
 * orders x M x 1 %, and those that rest hold at most M each. So 2n times the start must be (2n + resting) x M and the
 * fees. Down likewise, with shares of YES.
 * @throws RangeError when an exchange could not issue that much.
 */
export function sharesNeeded({ accounts, orders, profile, minOrderSize }: DrawSubject): Size {
  const largest = minOrderSize + MOST_ADDED;
  const fees = Math.ceil((orders * largest * HIGHEST_FEE_BPS) / (2 * FULL_PRICE));
  const needed = ((2 * accounts + profile.resting + 1) * largest + fees) / (2 * accounts);
  const shares = size(Math.ceil((AMPLE * needed) / ROUND) * ROUND);
  if (notional(FULL_PRICE, shares) * 3 * accounts > MAX_ISSUANCE / SHARE_OF_ISSUANCE) {
    throw new RangeError(
      `an exchange cannot issue what ${accounts} accounts need for ${orders} orders of up to ${largest / 100} shares`,
    );
  }
  return shares;
}
