import { nearest } from "../api/nearest.ts";
import type { Steps } from "../core/steps.ts";
import { chainMethods } from "./chain-methods.ts";
import { type Method, NodeContext } from "./context.ts";
import { controlMethods } from "./control-methods.ts";
import { answerRpc, ChainChanged, isLazy, jsonInSteps, RpcError } from "./json-rpc.ts";
import { IndexBehind } from "./log-index.ts";
import { logMethods } from "./log-methods.ts";

const METHODS: ReadonlyMap<string, Method> = new Map(
  Object.entries({ ...chainMethods, ...logMethods, ...controlMethods }),
);

/**
 * The settlement chain of one exchange as an Ethereum node. Blocks, transactions and balances are the exchange's; the node
 * itself remembers only filters, snapshots and impersonations.
 */
export class ChainNode extends NodeContext {
  /** The response to a JSON-RPC request, empty for notifications; untrusted clients may only read and send signed transactions. */
  answer(request: Buffer, isTrusted: boolean): Promise<string> {
    return answerRpc(request, this.slices, async (method, params) => {
      for (;;) {
        try {
          const result = await this.#perform(method, params, isTrusted);
          if (!isLazy(result)) return JSON.stringify(result ?? null);
          return await this.slices.run(this.#whileSame(jsonInSteps(result)));
        } catch (error) {
          await this.#prepare(error);
        }
      }
    });
  }

  #perform(name: string, params: readonly unknown[], isTrusted: boolean): unknown {
    const method = METHODS.get(name);
    if (method === undefined) throw notModelled(name);
    const { minParams, maxParams, isControl, perform } = method;
    if (isControl && !isTrusted) {
      throw new RpcError(
        "UNAUTHORIZED",
        `${name} needs the token of the control plane: send the value of --sim-token as authorization: Bearer TOKEN or as x-sim-token`,
      );
    }
    if (params.length < minParams || params.length > maxParams) {
      const expected = minParams === maxParams ? String(minParams) : `${minParams} to ${maxParams}`;
      throw new RpcError("INVALID_PARAMS", `${name} takes ${expected} parameters, found ${params.length}`);
    }
    return perform(this, params);
  }

  /** Does what must be done before a call is tried again. @throws the error where there is nothing to do. */
  async #prepare(error: unknown): Promise<void> {
    if (error instanceof ChainChanged) return;
    if (!(error instanceof IndexBehind)) throw error;
    try {
      await this.slices.run(this.#whileSame(this.logIndex.update(this.state)));
    } catch (changed) {
      if (!(changed instanceof ChainChanged)) throw changed;
    }
  }

  /** Steps on the state of this moment, in which blocks may go on being mined. @throws ChainChanged where it becomes another. */
  *#whileSame<T>(steps: Steps<T>): Steps<T> {
    const { state } = this;
    const { reorganizations } = state.chain;
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done) return step.value;
      yield;
      if (this.state !== state || state.chain.reorganizations !== reorganizations) throw new ChainChanged();
    }
  }
}

function notModelled(name: string): RpcError {
  const shown = name.slice(0, 60);
  const like = nearest(shown, METHODS.keys());
  const meant = like === undefined ? "" : ` Did you mean ${like}?`;
  const message = `Method not found: ${shown}.${meant} error.data.methods lists those there are`;
  return new RpcError("METHOD_NOT_FOUND", message, { methods: [...METHODS.keys()].sort() });
}
