import type { BalanceLook, OrderLook } from "../language/looks.ts";
import type { Place } from "../language/problem.ts";
import type { Expectation } from "../language/scenario.ts";
import { expected, found, note, same } from "../run/diff.ts";
import type { DiffLine } from "../run/result.ts";
import { type Mismatch, notes, type Session } from "../run/session.ts";
import { lookText, moneyText, sizeText, tokenText } from "../run/words.ts";
import type { HoldingView, OrderKey, OrderView, TokenRef } from "../venue/venue.ts";

type Of<Kind extends Expectation["kind"]> = Extract<Expectation, { readonly kind: Kind }>;

/** Compares the state of an order named before. */
export async function checkOrder(
  session: Session,
  { place, name, look }: Of<"order">,
): Promise<Mismatch | null> {
  const key = session.orderNamed(name);
  if (key === undefined) {
    return { place, message: session.neverPlaced(name), diff: [expected(lookText(look))] };
  }
  return checkLook(session, place, name, key, look, await session.venue.order(key));
}

/** Compares an order with what it should look like; what happened to it explains the difference. */
export async function checkLook(
  session: Session,
  place: Place,
  name: string,
  key: OrderKey,
  look: OrderLook,
  order: OrderView,
): Promise<Mismatch | null> {
  const isSame =
    order.status === look.status &&
    order.matched === look.matched &&
    order.size === look.size &&
    (look.reason === null || look.reason === order.reason);
  if (isSame) return null;
  return {
    place,
    message: `${name} is ${lookText(order)}, expected ${lookText(look)}`,
    diff: [
      expected(lookText(look)),
      found(lookText(order)),
      ...notes(session.withNames(await session.venue.explain(key))),
    ],
  };
}

const NOTHING = { balance: 0, available: 0, reserved: 0, onChain: 0 };
const PARTS = {
  balance: "",
  available: " available",
  reserved: " reserved",
  onChain: " on the chain",
} as const;
type Part = keyof typeof PARTS;

const isSameAsset = (token: TokenRef | null, other: HoldingView["asset"]): boolean =>
  token === null || other === "USDC"
    ? token === null && other === "USDC"
    : token.market === other.market && token.outcome === other.outcome;

/** Compares what an account has of one asset. */
export async function checkBalance(
  session: Session,
  { place, account, look }: Of<"balance">,
): Promise<Mismatch | null> {
  const { asset } = look;
  const token = asset === "USDC" ? null : session.tokenOf(asset);
  const holdings = await session.venue.holdings(account);
  const balance = holdings.find(({ asset: other }) => isSameAsset(token, other)) ?? NOTHING;
  const name = asset === "USDC" ? "USDC" : tokenText(asset);
  const text = (units: number): string => (asset === "USDC" ? moneyText(units) : sizeText(units));
  const diff: DiffLine[] = [];
  const { amount } = look;
  if (amount !== null && (amount === balance.balance || amount === balance.available)) return null;
  if (amount !== null)
    diff.push(expected(`${name} ${text(amount)}`), found(`${name} ${text(balance.balance)}`));
  for (const [part, words] of Object.entries(PARTS) as [Part, string][]) {
    const wanted: BalanceLook[Part] = look[part];
    if (wanted === null) continue;
    const line = (units: number): string => `${name} ${text(units)}${words}`;
    if (balance[part] === wanted) diff.push(same(line(wanted)));
    else diff.push(expected(line(wanted)), found(line(balance[part])));
  }
  if (diff.every(({ kind }) => kind === "same")) return null;
  if (balance.reserved > 0) {
    diff.push(
      note(`${text(balance.available)} of it is available, open orders reserve ${text(balance.reserved)}`),
    );
  }
  if (balance.onChain !== balance.balance) {
    diff.push(
      note(`its wallet holds ${text(balance.onChain)} on the chain, the rest is pending or was lost`),
    );
  }
  return { place, message: `the ${name} of ${account} is not as expected`, diff };
}
