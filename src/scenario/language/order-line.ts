import { shown } from "../flow/flow-error.ts";
import type { Declarations } from "./declarations.ts";
import type { LineWords, Word } from "./line-words.ts";
import { isRearranged, ORDER_ENDING } from "./meant-order.ts";
import { isName, NAME_RULE } from "./names.ts";
import { EXPIRY_RULE, expiryMeant, type OrderParts, OrderReader, orderWords } from "./order-reader.ts";
import type { ExactOrder, OrderWords } from "./scenario.ts";

const SHAPE = "an order such as BUY 100 YES @ 0.55";

/** An order line, read. */
export interface OrderLine {
  readonly words: OrderWords;
  /** Null when some word is wrong. */
  readonly exact: ExactOrder | null;
  /** The name given with `as`. */
  readonly name: string | null;
}

/**
 * Reads `BUY 100 YES @ 0.55 GTD +60s in rain as bid`. With `mayBeWrong` a word that is wrong in its place is no
 * problem. Null when the line has not the shape of an order.
 */
export function readOrderLine(
  line: LineWords,
  declared: Declarations,
  mayBeWrong: boolean,
): OrderLine | null {
  const named = line.wordAfter("as");
  const parts = !mayBeWrong && isRearranged(line) ? null : partsOf(line);
  if (parts === null) {
    // What speaks of the order later is not wrong because of this line.
    if (named !== null) declared.nameOrder(declared.rounds.named(named.text), null);
    return null;
  }
  const name = parts.name && freeName(line, declared, parts.name);
  const { exact, isRight, isTyped } = new OrderReader(line, declared, mayBeWrong).read(parts);
  if (name !== null) declared.nameOrder(name, exact?.orderType ?? null);
  // Behind a word that is no type it cannot be known what the next was meant to be.
  const isOver = (!isTyped && !mayBeWrong) || line.isOver(ORDER_ENDING, ["in", "as"]);
  if ((parts.name !== null && name === null) || !isOver || (!isRight && !mayBeWrong)) return null;
  return { words: orderWords(parts, declared), exact, name };
}

function partsOf(line: LineWords): OrderParts | null {
  const side = line.take(SHAPE);
  const size = side && line.take("a size");
  const outcome = size && line.take("YES or NO");
  const at = outcome && line.demand("@");
  const price = at && line.take("a price");
  if (price === null) return null;
  const type = optional(line);
  if (type?.text === "GTD" && isSaidToExpire(line)) return null;
  const expiry = type && mayExpire(type, line.peek()) ? optional(line) : null;
  const inMarket = line.takeIf("in");
  const market = inMarket && line.take("a market after in");
  const asName = line.takeIf("as");
  const name = asName && line.take("a name after as");
  if ((inMarket !== null && market === null) || (asName !== null && name === null)) return null;
  return { side, size, outcome, price, type, expiry, market, name } as OrderParts;
}

/** Whether a word behind a type is meant as when the order expires. */
const mayExpire = (type: Word, next: Word | undefined): boolean =>
  type.text === "GTD" || /^[+\d]/.test(next?.text ?? "");

/** Notes `in 60s` where `+60s` is meant, or another word before when an order expires. */
function isSaidToExpire(line: LineWords): boolean {
  const [before, when] = line.left;
  const meant =
    when === undefined || !/^(?:in|for|after|until|till|at)$/i.test(before?.text ?? "")
      ? null
      : expiryMeant(when.text);
  if (before === undefined || meant === null) return false;
  line.page.unexpected(before.at, EXPIRY_RULE, `${before.text} ${when?.text}`, [], meant);
  return true;
}

/** The next word, unless it begins what may follow a type. */
function optional(line: LineWords): Word | null {
  const next = line.peek();
  return next === undefined || next.text === "in" || next.text === "as" ? null : line.take("");
}

/** The name that an order is given, or null with a problem. */
function freeName({ page }: LineWords, declared: Declarations, { text, at }: Word): string | null {
  const name = declared.rounds.named(text);
  if (text.includes("#") && name === text) {
    return page.wrong(at, `# numbers the names in a repeat, found ${shown(text)} outside of any`);
  }
  if (!isName(name)) return page.unexpected(at, NAME_RULE, text);
  if (name === "all") {
    return page.wrong(at, "all cannot name an order, for `cancel all` cancels every order");
  }
  if (declared.isFree(name)) return name;
  return page.wrong(at, `another order is named ${name} already`, "give each a name of its own");
}
