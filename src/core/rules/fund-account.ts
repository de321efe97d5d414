import type { FundAccount } from "../commands.ts";
import { accepted, type Decision, refused } from "../decision.ts";
import type { DomainEvent } from "../events.ts";
import { marketOfToken, outcomeOf } from "../market.ts";
import { FAUCET, findAccount, type State } from "../state.ts";
import { FULL_PRICE, type Money, notional } from "../units.ts";
import { backingOf, issuanceLeft, issuing, mintingGrants, opening } from "./ledger.ts";
import type { RuleSet } from "./rule-set.ts";

/**
 * Issues USDC, and mints shares of single outcomes as full sets whose other half goes to the faucet. Shares in a market
 * touch it, as an order does: what the account is granted there is minted, too.
 */
export function fundAccount(state: State, command: FundAccount, rules: RuleSet): Decision {
  const known = findAccount(state, command.address);
  const events: DomainEvent[] = [];
  const account = known?.number ?? opening(state, command.address, events);
  let asked: number = command.collateral;
  if (command.collateral > 0) events.push(issuing(state, account, command.collateral));
  let transaction = state.chain.transactions.next + Number(command.collateral > 0);
  const touched = new Set<number>();
  for (const { tokenId, size } of command.tokens) {
    const token = state.tokenById.get(tokenId);
    if (token === undefined) return refused({ code: "TOKEN_NOT_FOUND", tokenId });
    if (size === 0) continue;
    const market = marketOfToken(token);
    touched.add(market);
    asked += notional(FULL_PRICE, size);
    const isYes = outcomeOf(token) === "YES";
    events.push({
      kind: "setsIssued",
      market,
      size,
      yes: isYes ? account : FAUCET,
      no: isYes ? FAUCET : account,
      transaction,
    });
    transaction += 1;
  }
  if (command.everyMarket > 0) events.push({ kind: "grantRaised", account, size: command.everyMarket });
  const minted = rules.receivingTouches
    ? mintingGrants({ number: account, known }, touched, command.everyMarket, transaction)
    : [];
  asked += backingOf(minted);
  events.push(...minted);
  const left = issuanceLeft(state);
  if (asked > left) return refused({ code: "ISSUANCE_EXCEEDED", asked: asked as Money, left });
  return accepted(events);
}
