import { Book } from "../../../src/core/book/book.ts";
import { OPEN } from "../../../src/core/book/order-pool.ts";
import type { MatchPlan } from "../../../src/core/book/plan.ts";

type Walk = (...args: Parameters<Book["plan"]>) => void;
/** What a broken book does to a walk that a sound one has planned. */
export type Defect = (book: Book, args: Parameters<Book["plan"]>, walk: Walk) => void;

/**
 * Plants a defect in the books of an exchange for some of their walks, counted from 1: before and after those all is sound.
 * `isOf` tells its books from those with which a flow is made.
 */
export async function withDefect<T>(
  defect: Defect,
  [from, to]: readonly [from: number, to: number],
  isOf: (book: Book) => boolean,
  run: () => Promise<T>,
): Promise<T> {
  const sound = Book.prototype.plan;
  let walks = 0;
  Book.prototype.plan = function (...args) {
    const walk: Walk = (...other) => sound.apply(this, other);
    if (isOf(this)) walks += 1;
    if (isOf(this) && walks >= from && walks < to) defect(this, args, walk);
    else walk(...args);
  };
  try {
    return await run();
  } finally {
    Book.prototype.plan = sound;
  }
}

/** Of two orders at one price, the later is met first. */
export const reversedQueue: Defect = (book, args, walk) => {
  walk(...args);
  const plan = args[5];
  const [first = 0, second = 0] = plan.slots;
  if (plan.count < 2 || (plan.quantities[1] ?? 0) === 0) return;
  if (book.tickOf(first) !== book.tickOf(second)) return;
  const both = (plan.quantities[0] ?? 0) + (plan.quantities[1] ?? 0);
  const ofSecond = Math.min(both, book.pool.openIn(second));
  replaceStart(plan, [
    [second, ofSecond],
    [first, both - ofSecond],
  ]);
};

function replaceStart(
  plan: MatchPlan,
  entries: readonly (readonly [slot: number, quantity: number])[],
): void {
  const rest = Array.from({ length: plan.count - entries.length }, (_, index) => index + entries.length).map(
    (index) => [plan.slots[index] ?? 0, plan.quantities[index] ?? 0] as const,
  );
  const all = [...entries.filter(([, quantity]) => quantity > 0), ...rest];
  const { filled, stopped, ownSlot } = plan;
  plan.clear();
  for (const [slot, quantity] of all) plan.push(slot, quantity);
  Object.assign(plan, { filled, stopped, ownSlot });
}

/** What rests at the best price is passed over by whoever reaches the next. */
export const skippedBest: Defect = (book, args, walk) => {
  walk(...args);
  const plan = args[5];
  const best = book.tickOf(plan.slots[0] ?? 0);
  const behind = Array.from({ length: plan.count }, (_, index) => index).filter(
    (index) => book.tickOf(plan.slots[index] ?? 0) !== best,
  );
  if (behind.length === 0) return;
  const entries = behind.map((index) => [plan.slots[index] ?? 0, plan.quantities[index] ?? 0] as const);
  const { ownSlot } = plan;
  plan.clear();
  for (const [slot, quantity] of entries) plan.push(slot, quantity);
  plan.filled = entries.reduce((sum, [, quantity]) => sum + quantity, 0);
  plan.ownSlot = ownSlot;
};

/** Orders of one account trade with each other, whatever the market's policy is. */
export const ignoredSelfTrade: Defect = (_book, [direction, limit, size, account, , plan], walk) =>
  walk(direction, limit, size, account, "allow", plan);

/** What a partial fill leaves of a maker is lost until the next order comes or goes: then it is put back. */
export function lostRemainder(): Defect {
  let putBack = (): void => {};
  return (book, args, walk) => {
    putBack();
    walk(...args);
    const { slots, quantities, count } = args[5];
    const slot = slots[0] ?? 0;
    const open = book.pool.openIn(slot);
    if (count !== 1 || (quantities[0] ?? open) >= open) return;
    book.fill = (filled, quantity) => {
      Reflect.deleteProperty(book, "fill");
      book.fill(filled, quantity);
      const left = book.pool.openIn(filled);
      book.pool.cells[filled + OPEN] = 1;
      putBack = () => {
        book.pool.cells[filled + OPEN] = left;
        Reflect.deleteProperty(book, "remove");
        putBack = () => {};
      };
      book.remove = (gone) => {
        putBack();
        book.remove(gone);
      };
    };
  };
}
