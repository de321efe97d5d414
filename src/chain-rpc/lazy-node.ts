import type { ChainNode } from "./chain-node.ts";
import type { Host } from "./context.ts";

/** A node that is loaded with its first request: what it needs would keep the server from starting. */
export class LazyNode {
  readonly #host: Host;
  #node: Promise<ChainNode> | null = null;

  constructor(host: Host) {
    this.#host = host;
  }

  /** The text that answers a JSON-RPC request, empty for none. */
  async answer(request: Buffer, isTrusted: boolean): Promise<string> {
    this.#node ??= load(this.#host);
    const node = await this.#node;
    return node.answer(request, isTrusted);
  }

  /** Starts anew: no filter, no snapshot, nobody impersonated. */
  forget(): void {
    this.#node = null;
  }
}

async function load(host: Host): Promise<ChainNode> {
  const { ChainNode } = await import("./chain-node.ts");
  return new ChainNode(host);
}
