/** Trades counted, added up and hashed as they come: two books that made the same trades have the same tally. */
export class TradeTally {
  trades = 0;
  volume = 0;
  /** Of taker, maker, tick and quantity of every trade, in order: `h = imul(h ^ value, 16777619)`, an unsigned 32-bit integer. */
  hash = 0;

  /** Counts one trade. */
  add(taker: number, maker: number, tick: number, quantity: number): void {
    this.trades += 1;
    this.volume += quantity;
    let hash = this.hash;
    hash = Math.imul(hash ^ taker, 16_777_619);
    hash = Math.imul(hash ^ maker, 16_777_619);
    hash = Math.imul(hash ^ tick, 16_777_619);
    hash = Math.imul(hash ^ quantity, 16_777_619);
    this.hash = hash >>> 0;
  }
}
