import { createHash } from "node:crypto";

/** What a fault is set with; the probability in millionths. */
export interface FaultTerms {
  readonly fault: string;
  readonly probability: number;
  /** Null for any number. */
  readonly times: number | null;
}

interface InForce extends FaultTerms {
  readonly number: number;
  struck: number;
}

/** Which fault strikes which settlement: the first in force whose draw says so, and none more often than it may. */
export class ReferenceFaults {
  readonly #seed: string;
  #inForce: InForce[] = [];
  #count = 0;
  /** How often a settlement was put off to be tried again, and which fault has delayed it. */
  readonly #attempts = new Map<number, number>();
  readonly #delays = new Map<number, number>();
  /** The settlements that were put off for any reason. */
  readonly held = new Set<number>();

  constructor(seed: string) {
    this.#seed = seed;
  }

  set(terms: FaultTerms): void {
    this.#count += 1;
    this.#inForce.push({ ...terms, number: this.#count, struck: 0 });
  }

  endAll(): void {
    this.#inForce = [];
  }

  /** The number of the fault that strikes a settlement in this block; 0 for none. */
  striking(transaction: number): number {
    return this.#inForce.find((fault) => this.#strikes(fault, transaction))?.number ?? 0;
  }

  /** A settlement was put off, failed or was lost; `fault` has done it, or none: 0. */
  note(transaction: number, hold: string | null, fault: number): void {
    if (hold !== null) this.held.add(transaction);
    if (hold === "UNDERPRICED") return;
    if (hold === "UNFUNDED" || hold === "RETRIED") {
      this.#attempts.set(transaction, (this.#attempts.get(transaction) ?? 0) + 1);
    }
    if (hold === "DELAYED") this.#delays.set(transaction, fault);
    for (const each of this.#inForce) if (each.number === fault) each.struck += 1;
    this.#inForce = this.#inForce.filter(({ times, struck }) => times === null || struck < times);
  }

  #strikes({ number, fault, probability }: InForce, transaction: number): boolean {
    if (fault === "gasSpike") return false;
    if (fault === "delay" && this.#delays.get(transaction) === number) return false;
    const attempt = this.#attempts.get(transaction) ?? 0;
    const text = `clobsim chance\n${number}\n${transaction}\n${attempt}\n${this.#seed}`;
    const word = createHash("sha256").update(text).digest().readUInt32BE(0);
    return Math.floor((word / 2 ** 32) * 1_000_000) < probability;
  }
}
