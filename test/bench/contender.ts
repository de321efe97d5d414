import type { Flow } from "./flow.ts";
import type { TradeTally } from "./trade-tally.ts";

/** An order book engine that can replay a flow. */
export interface Contender {
  readonly name: string;
  /** A new book with the flow's opening done. What it answers replays the rest, once, and is what is measured. */
  prepare(flow: Flow): () => TradeTally;
}
