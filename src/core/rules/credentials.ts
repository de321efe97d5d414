import type { DeriveCredentials } from "../commands.ts";
import { accepted, type Decision, refused } from "../decision.ts";
import type { DomainEvent } from "../events.ts";
import type { State } from "../state.ts";
import { findAccount } from "../state.ts";
import { money } from "../units.ts";
import { backingOf, issuanceLeft, issuing, mintingGrants, opening } from "./ledger.ts";
import type { RuleSet } from "./rule-set.ts";

/**
 * A wallet's first derivation also funds it from the faucet, in the markets that it has touched before at once; it is
 * refused when there is too little left to issue.
 */
export function deriveCredentials(state: State, command: DeriveCredentials, rules: RuleSet): Decision {
  const account = findAccount(state, command.address);
  const derivations = account?.derivations ?? 0;
  if (derivations > 0 && state.config.credentials === "once") {
    return refused({ code: "CREDENTIALS_ALREADY_DERIVED", address: command.address });
  }
  const events: DomainEvent[] = [];
  const number = account?.number ?? opening(state, command.address, events);
  if (derivations === 0) {
    const { collateral, everyMarket } = state.config.faucet;
    const first = state.chain.transactions.next + Number(collateral > 0);
    const minted = rules.receivingTouches
      ? mintingGrants({ number, known: account }, [], everyMarket, first)
      : [];
    const [asked, left] = [money(collateral + backingOf(minted)), issuanceLeft(state)];
    if (asked > left) return refused({ code: "ISSUANCE_EXCEEDED", asked, left });
    if (collateral > 0) events.push(issuing(state, number, collateral));
    if (everyMarket > 0) events.push({ kind: "grantRaised", account: number, size: everyMarket });
    events.push(...minted);
  }
  events.push({ kind: "credentialsDerived", account: number });
  return accepted(events);
}
