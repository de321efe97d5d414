import type { FundAccount } from "../commands.ts";
import { accepted, type Decision, refused } from "../decision.ts";
import type { DomainEvent } from "../events.ts";
import { marketOfToken, outcomeOf } from "../market.ts";
import { FAUCET, findAccount, type State } from "../state.ts";
import { FULL_PRICE, type Money, notional } from "../units.ts";
import { issuanceLeft, issuing, opening } from "./ledger.ts";

/** Issues USDC, and mints shares of single outcomes as full sets whose other half goes to the faucet. */
export function fundAccount(state: State, command: FundAccount): Decision {
  const known = findAccount(state, command.address);
  const events: DomainEvent[] = [];
  const account = known?.number ?? opening(state, command.address, events);
  let asked: number = command.collateral;
  if (command.collateral > 0) events.push(issuing(state, account, command.collateral));
  let transaction = state.chain.transactions.next + Number(command.collateral > 0);
  for (const { tokenId, size } of command.tokens) {
    const token = state.tokenById.get(tokenId);
    if (token === undefined) return refused({ code: "TOKEN_NOT_FOUND", tokenId });
    if (size === 0) continue;
    asked += notional(FULL_PRICE, size);
    const isYes = outcomeOf(token) === "YES";
    events.push({
      kind: "setsIssued",
      market: marketOfToken(token),
      size,
      yes: isYes ? account : FAUCET,
      no: isYes ? FAUCET : account,
      transaction,
    });
    transaction += 1;
  }
  if (command.everyMarket > 0) events.push({ kind: "grantRaised", account, size: command.everyMarket });
  const left = issuanceLeft(state);
  if (asked > left) return refused({ code: "ISSUANCE_EXCEEDED", asked: asked as Money, left });
  return accepted(events);
}
