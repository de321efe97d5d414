import { money } from "../../../src/core/units.ts";
import { draftOf } from "../../../src/history/shrink/draft.ts";
import {
  type ShrinkOptions,
  type ShrunkScenario,
  shrinkScenario,
} from "../../../src/history/shrink/shrink-scenario.ts";
import { type Environment, type FailureFingerprint, Trial } from "../../../src/history/shrink/trial.ts";
import type { Scenario } from "../../../src/scenario/language/steps.ts";
import { VenueOpener } from "../../../src/scenario/run/run-suite.ts";
import { LocalVenue } from "../../../src/scenario/venue/local-venue.ts";
import { type Venue, Wallets } from "../../../src/scenario/venue/venue.ts";

/** An exchange that creates a cent when an order fills two others, and throws when one fills more than three. */
class LeakyVenue extends LocalVenue {
  override async place(...order: Parameters<LocalVenue["place"]>) {
    const before = this.fillCount();
    const attempt = await super.place(...order);
    const fills = this.fillCount() - before;
    if (fills > 3) throw new Error(`cannot keep ${fills} fills of order ${this.state.orders.size}`);
    if (fills === 2) {
      const { collateral } = this.state.accounts.get(1);
      collateral.balance = money(collateral.balance + 10_000);
    }
    return attempt;
  }
}

const wallets = new Wallets();
export const leaky = (scenario: Scenario): Venue => new LeakyVenue(scenario, null, wallets);

const opener = new VenueOpener();
const openLocal: Environment["open"] = (scenario) => opener.local(scenario);

/** Returns the environment of trials: a folder, and exchanges without defects unless `open` has some. */
export const environmentIn = (folder = "/nowhere", open = openLocal): Environment => ({
  file: `${folder}/failing.yaml`,
  folder,
  open,
});

/** Shrinks a scenario. @throws Error if it does not fail */
export async function shrunk(
  text: string,
  environment: Environment = environmentIn(),
  options: ShrinkOptions = {},
): Promise<ShrunkScenario> {
  const result = await shrinkScenario(text, environment, options);
  if (result === null) throw new Error("the scenario does not fail");
  return result;
}

/** Returns the fingerprint of a text's failure; null if it passes or cannot be read. */
export async function fingerprintIn(
  text: string,
  environment: Environment,
): Promise<FailureFingerprint | null> {
  const outcome = await new Trial(environment).run(text);
  return outcome.kind === "failed" ? outcome.fingerprint : null;
}

/** Returns the steps that can be removed, each alone, so that the text still fails in the same way. */
export async function superfluous(
  text: string,
  { key }: FailureFingerprint,
  environment: Environment,
): Promise<string[]> {
  const draft = draftOf(text);
  const found: string[] = [];
  for (const step of draft.steps) {
    const fingerprint = await fingerprintIn(draft.without(new Set([step])), environment);
    if (fingerprint?.key === key) found.push(step.text);
  }
  return found;
}
