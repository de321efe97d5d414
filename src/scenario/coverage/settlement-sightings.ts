import { confirmationsOf, minedAt } from "../../core/chain/chain.ts";
import type { SettlementFaultKind } from "../../core/chain/settlement-fault.ts";
import type { Transaction } from "../../core/chain/transaction.ts";
import type { ChainEvent } from "../../core/events.ts";
import type { State } from "../../core/state.ts";
import { unreachable } from "../../core/unreachable.ts";
import type { Exchange } from "../../engine/exchange.ts";
import { GHOST, isItem, REORGANIZED } from "./items.ts";
import type { Sightings } from "./sightings.ts";

/** Notes what becomes of settlements, and what wallets do on the chain. */
export class SettlementObserver {
  readonly #exchange: Exchange;
  readonly #sightings: Sightings;
  /** The kind of each fault that was set, by number: one that has struck for the last time is gone from the state. */
  readonly #faults = new Map<number, SettlementFaultKind>();

  constructor(exchange: Exchange, sightings: Sightings) {
    this.#exchange = exchange;
    this.#sightings = sightings;
    for (const { number, fault } of exchange.state.chain.faults) this.#faults.set(number, fault);
  }

  /** An event of the chain has been applied, with all that its command caused. */
  saw(event: ChainEvent): void {
    if ("fault" in event && typeof event.fault === "number") this.#struck(event.fault);
    switch (event.kind) {
      case "settlementFaultSet":
        this.#faults.set(event.number, event.fault);
        break;
      case "blocksMined":
        for (const transaction of this.#matchesAt(event.height)) this.#mined(transaction);
        this.#confirmed(event.height, event.height + event.empty);
        break;
      case "blockSealed":
        this.#confirmed(event.height, event.height);
        break;
      case "transactionMined":
        this.#mined(this.#transaction(event.transaction));
        break;
      case "transactionHeld":
        this.#held(this.#transaction(event.transaction), `held: ${event.hold}`);
        break;
      case "settlementLost":
        this.#sightings.note("settlement", GHOST);
        break;
      case "settlementFailed":
        this.#sightings.note("settlement", `${statusBefore(this.#transaction(event.transaction))} -> FAILED`);
        break;
      case "chainReorganized":
        this.#reorganized();
        break;
      case "callExecuted":
        if (!event.isRepeated) this.#called(this.#transaction(event.transaction));
        break;
      case "callReverted":
        this.#sightings.note("chain calls", "reverted");
        break;
      case "blockOpened":
      case "blocksAsked":
      case "transactionSent":
      case "settlementFaultEnded":
      case "feesBumped":
      case "nativeBalanceSet":
        break;
      default:
        throw unreachable(event);
    }
  }

  get #state(): State {
    return this.#exchange.state;
  }

  #transaction(number: number): Transaction {
    return this.#state.chain.transactions.get(number);
  }

  #struck(number: number): void {
    const fault = this.#faults.get(number);
    if (fault !== undefined) this.#sightings.note("settlement faults", fault);
  }

  #mined(transaction: Transaction): void {
    if (transaction.content !== null) return;
    const isFinal = confirmationsOf(this.#state.config.settlement) === 0;
    const status = isFinal ? "CONFIRMED" : "MINED";
    this.#sightings.note("settlement", `${statusBefore(transaction)} -> ${status}`);
  }

  #held({ content }: Transaction, item: string): void {
    if (content === null && isItem("settlement", item)) this.#sightings.note("settlement", item);
  }

  /** With the blocks from one height to another, those that stand deep enough below them are final. */
  #confirmed(from: number, to: number): void {
    const depth = confirmationsOf(this.#state.config.settlement);
    if (depth === 0) return;
    for (let height = Math.max(1, from - depth); height <= to - depth; height += 1) {
      for (const { status } of this.#matchesAt(height)) {
        if (status === "MINED") this.#sightings.note("settlement", "MINED -> CONFIRMED");
      }
    }
  }

  #reorganized(): void {
    const { held } = this.#state.chain;
    for (const { content, oddity } of held.map((number) => this.#transaction(number))) {
      if (content === null && oddity?.hold === "REORGANIZED") this.#sightings.note("settlement", REORGANIZED);
    }
  }

  #called({ content }: Transaction): void {
    const kind = content?.kind === "call" ? content.call.kind : "";
    if (isItem("chain calls", kind)) this.#sightings.note("chain calls", kind);
  }

  #matchesAt(height: number): Transaction[] {
    return minedAt(this.#state.chain, height).filter(({ content }) => content === null);
  }
}

/** Where a settlement stood before it was mined or failed. */
const statusBefore = ({ oddity }: Transaction): "RETRYING" | "MATCHED" =>
  (oddity?.attempts ?? 0) > 0 ? "RETRYING" : "MATCHED";
