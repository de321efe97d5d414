import { Book, type MatchPlan } from "../../../src/core/book/book.ts";
import { OPEN } from "../../../src/core/book/order-pool.ts";

type Walk = (...args: Parameters<Book["plan"]>) => void;
/** A change to the plan that a correct book makes. */
export type Defect = (book: Book, args: Parameters<Book["plan"]>, walk: Walk) => void;

/**
 * Plants a defect in some calls of `Book.plan`, from call `from` up to, not including, call `to`, counted from 1.
 * `isOf` distinguishes the exchange's books from those of the flow generator.
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

/** Matches the later of two orders at one price first. */
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

/** Skips the best price if the order reaches the next one. */
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

/** Allows self-trades under any policy. */
export const ignoredSelfTrade: Defect = (_book, [direction, limit, size, account, , plan], walk) =>
  walk(direction, limit, size, account, "allow", plan);

/** Loses the remainder of a partly filled maker until the next order is planned or removed, then puts it back. */
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
