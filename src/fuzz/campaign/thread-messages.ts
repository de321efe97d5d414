import type { FailureFiles, SeedOutcome } from "../outcome.ts";
import type { CampaignSettings } from "./results.ts";

/** What a thread is started with. */
export interface ThreadData {
  readonly settings: CampaignSettings;
}

/** What a thread is asked to do, one at a time. */
export type Task =
  | { readonly kind: "run"; readonly seeds: readonly number[] }
  | { readonly kind: "write"; readonly outcome: SeedOutcome; readonly folder: string; readonly name: string }
  | { readonly kind: "findCanary" };

/** What a thread says: once that it can begin, of each seed of a task what became of it, and at the end of each task its result. */
export type Answer =
  | { readonly kind: "ready" }
  | { readonly kind: "outcome"; readonly outcome: SeedOutcome }
  | { readonly kind: "done"; readonly result: TaskResult };

export type TaskResult =
  | { readonly kind: "run" }
  | { readonly kind: "write"; readonly files: FailureFiles }
  | { readonly kind: "findCanary"; readonly isFound: boolean };
