import { reservationOf } from "../../core/order.ts";
import type { Size } from "../../core/units.ts";
import type { WatchedOrder } from "./watched-book.ts";

const FEW_ACCOUNTS = 64;

/** What accounts keep reserved, as the events of their orders say it. */
export class WatchedAccounts {
  /** Micro-USDC by account. */
  #collateral = new Float64Array(FEW_ACCOUNTS);
  /** Size units by token and account. */
  readonly #shares: (Map<number, number> | undefined)[] = [];

  /** An order has so much open instead. */
  change(order: WatchedOrder, before: number, after: number): void {
    const { account, token, feeRateBps } = order;
    if (order.side === "SELL") {
      let shares = this.#shares[token];
      if (shares === undefined) {
        shares = new Map();
        this.#shares[token] = shares;
      }
      shares.set(account, (shares.get(account) ?? 0) + after - before);
      return;
    }
    if (account >= this.#collateral.length) this.#grow(account);
    const change =
      reservationOf(order, after as Size, feeRateBps) - reservationOf(order, before as Size, feeRateBps);
    this.#collateral[account] = (this.#collateral[account] as number) + change;
  }

  /** What the account of an order keeps reserved of the asset that the order pays with. */
  reservedFor({ account, side, token }: WatchedOrder): number {
    return (side === "BUY" ? this.#collateral[account] : this.#shares[token]?.get(account)) ?? 0;
  }

  #grow(account: number): void {
    const collateral = new Float64Array(2 * account);
    collateral.set(this.#collateral);
    this.#collateral = collateral;
  }
}
