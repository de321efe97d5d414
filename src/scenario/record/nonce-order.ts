import type { State } from "../../core/state.ts";
import type { Act } from "./observed-session.ts";

/**
 * The acts of a session, with each transaction that came before an earlier nonce of its wallet right behind the one that
 * fills the gap: a wallet of a scenario sends in order, and before that no block looks at it.
 */
export function inOrderOfNonces(acts: readonly Act[], opening: State): Act[] {
  const gaps = new Map<string, Gaps>();
  const ordered: Act[] = [];
  for (const act of acts) {
    const [sent] = act.events;
    if (sent?.kind !== "transactionSent") {
      ordered.push(act);
      continue;
    }
    const { from, nonce } = sent.content;
    const own = gaps.get(from) ?? new Gaps(opening, from);
    gaps.set(from, own);
    for (const ready of own.take(nonce, act)) ordered.push({ ...ready, at: act.at, isTimed: act.isTimed });
  }
  // Nothing comes of those behind a gap that nobody fills.
  const last = acts.at(-1);
  for (const own of gaps.values()) {
    for (const act of own.left) ordered.push({ ...act, at: last?.at ?? act.at });
  }
  return ordered;
}

/** What a wallet has sent ahead of its nonces. */
class Gaps {
  readonly #waiting = new Map<number, Act>();
  /** The nonces that were sent before the session and not mined. */
  readonly #before: ReadonlySet<number>;
  #next: number;

  constructor({ chain }: State, from: string) {
    const wallet = chain.wallets.get(from);
    this.#before = new Set(wallet?.pending.keys() ?? []);
    this.#next = wallet?.mined ?? 0;
    this.#skip();
  }

  get left(): Iterable<Act> {
    return this.#waiting.values();
  }

  /** The acts whose turn it is now. One of the same nonce takes the place of another. */
  take(nonce: number, act: Act): Act[] {
    if (nonce < this.#next) return [act];
    this.#waiting.set(nonce, act);
    const ready: Act[] = [];
    for (let next = this.#waiting.get(this.#next); next !== undefined; next = this.#waiting.get(this.#next)) {
      ready.push(next);
      this.#waiting.delete(this.#next);
      this.#next += 1;
      this.#skip();
    }
    return ready;
  }

  #skip(): void {
    while (this.#before.has(this.#next)) this.#next += 1;
  }
}
