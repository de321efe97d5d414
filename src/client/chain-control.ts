import type { Connection } from "./connection.ts";
import type { PageWindow } from "./pages.ts";
import type * as reply from "./replies.ts";
import type * as request from "./requests.ts";
import type { Result } from "./result.ts";
import { route } from "./target.ts";

/** `/sim/chain`: when blocks are mined, and what goes wrong with settlements. */
export class ChainControl {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Head, what is pending, when the next block is due, and the contracts. */
  info(): Promise<Result<reply.Chain>> {
    return this.#connection.ask({ path: "/sim/chain" });
  }

  /** Latest first, with their transactions. */
  blocks(window: PageWindow = {}): Promise<Result<reply.Page<reply.ChainBlock>>> {
    return this.#connection.ask({ path: "/sim/chain/blocks", query: { ...window } });
  }

  /** What waits for a block or was lost, oldest first, and why. */
  pending(window: PageWindow = {}): Promise<Result<reply.Page<reply.ChainTransaction>>> {
    return this.#connection.ask({ path: "/sim/chain/pending", query: { ...window } });
  }

  /** Shares and locked USDC of a market, in the ledger and on the chain. */
  supply(idOrSlug: string): Promise<Result<reply.MarketSupply>> {
    return this.#connection.ask({ path: route`/sim/chain/supply/${idOrSlug}` });
  }

  /** Mines blocks at once; all that is pending is in the first. */
  mine(blocks = 1): Promise<Result<reply.Chain>> {
    return this.#connection.ask({ method: "POST", path: "/sim/chain/mine", body: { blocks } });
  }

  /** Lets the exchange raise its fees: a gas spike keeps nothing of its own out of a block any more. */
  bump(): Promise<Result<reply.BumpedFees>> {
    return this.#connection.ask({ method: "POST", path: "/sim/chain/bump" });
  }

  /** Oldest first, with how often each has struck. */
  faults(window: PageWindow = {}): Promise<Result<reply.Page<reply.SettlementFault>>> {
    return this.#connection.ask({ path: "/sim/chain/faults", query: { ...window } });
  }

  /** Lets settlements fail, be retried, delayed or lost; lets gas spike; reorganizes the chain. */
  addFault(fault: request.NewSettlementFault): Promise<Result<reply.SettlementFault>> {
    return this.#connection.ask({ method: "POST", path: "/sim/chain/faults", body: fault });
  }

  /** Ends a fault, and answers it as it stood. */
  deleteFault(id: string): Promise<Result<reply.SettlementFault>> {
    return this.#connection.ask({ method: "DELETE", path: route`/sim/chain/faults/${id}` });
  }

  clearFaults(): Promise<Result<reply.EndedSettlementFaults>> {
    return this.#connection.ask({ method: "DELETE", path: "/sim/chain/faults" });
  }
}
