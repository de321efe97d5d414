import type { DeriveCredentials } from "../commands.ts";
import { accepted, type Decision, refused } from "../decision.ts";
import type { DomainEvent } from "../events.ts";
import type { State } from "../state.ts";
import { findAccount } from "../state.ts";
import { issuanceLeft, issuing, opening } from "./ledger.ts";

/** A wallet's first derivation also funds it from the faucet; it is refused when there is too little left to issue. */
export function deriveCredentials(state: State, command: DeriveCredentials): Decision {
  const account = findAccount(state, command.address);
  const derivations = account?.derivations ?? 0;
  if (derivations > 0 && state.config.credentials === "once") {
    return refused({ code: "CREDENTIALS_ALREADY_DERIVED", address: command.address });
  }
  const events: DomainEvent[] = [];
  const number = account?.number ?? opening(state, command.address, events);
  if (derivations === 0) {
    const { collateral, everyMarket } = state.config.faucet;
    if (collateral > issuanceLeft(state)) {
      return refused({ code: "ISSUANCE_EXCEEDED", asked: collateral, left: issuanceLeft(state) });
    }
    if (collateral > 0) events.push(issuing(state, number, collateral));
    if (everyMarket > 0) events.push({ kind: "grantRaised", account: number, size: everyMarket });
  }
  events.push({ kind: "credentialsDerived", account: number });
  return accepted(events);
}
