import { eventStreamReader, type StreamEntry, streamEntry } from "../../src/api/event-stream.ts";
import type { Command } from "../../src/core/commands.ts";
import { millis } from "../../src/core/units.ts";
import { eventHash, hex8 } from "../../src/engine/checksum.ts";
import { Exchange } from "../../src/engine/exchange.ts";
import type { OpeningData } from "../../src/engine/journal-line.ts";
import { originOfJournal } from "../../src/engine/origin.ts";

/**
 * A reader of the live feed of a server, over as many connections as `cuts` says, each of which ends after so many bytes;
 * those of where it begins do not count.
 */
export class StreamReader {
  /** All that it was told, in order. */
  readonly entries: StreamEntry[] = [];
  /** What came that is no entry. */
  comments = "";
  readonly #url: string;
  readonly #query: string;
  readonly #cuts: number[];
  readonly #abort = new AbortController();
  #waiting: (() => void) | null = null;
  #failure: unknown = null;

  constructor(url: string, query = "", cuts: readonly number[] = []) {
    this.#url = url;
    this.#query = query;
    this.#cuts = [...cuts];
    this.#follow().catch((error: unknown) => {
      this.#failure = error;
      this.#waiting?.();
    });
  }

  get last(): StreamEntry | undefined {
    return this.entries.at(-1);
  }

  /** The latest entry, once it is what is waited for. */
  async until(isMeant: (entry: StreamEntry) => boolean): Promise<StreamEntry> {
    for (;;) {
      const { last } = this;
      if (last !== undefined && isMeant(last)) return last;
      if (this.#failure !== null) throw this.#failure;
      await new Promise<void>((resolve) => {
        this.#waiting = resolve;
      });
    }
  }

  close(): void {
    this.#abort.abort();
  }

  async #follow(): Promise<void> {
    while (!this.#abort.signal.aborted) await this.#connect(this.#cuts.shift() ?? Number.POSITIVE_INFINITY);
  }

  async #connect(most: number): Promise<void> {
    const ending = new AbortController();
    const signal = AbortSignal.any([ending.signal, this.#abort.signal]);
    const headers = this.last === undefined ? {} : { "last-event-id": this.last.id };
    try {
      const reply = await fetch(`${this.#url}/sim/stream${this.#query}`, { headers, signal });
      if (reply.status !== 200) throw new Error(await reply.text());
      const read = eventStreamReader();
      let left = most;
      for await (const bytes of reply.body as unknown as AsyncIterable<Uint8Array>) {
        const isBeginning = this.last === undefined;
        for (const event of read(isBeginning ? bytes : bytes.subarray(0, left))) {
          this.entries.push(streamEntry(event));
          // Whoever waits looks at each entry.
          this.#waiting?.();
          await Promise.resolve();
        }
        if (!isBeginning) left -= bytes.length;
        if (left <= 0 && !isBeginning) break;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      ending.abort();
    }
  }
}

/** The exchange that a reader of the entries arrives at. @throws Error when a command causes something else than is told. */
export function replayed(entries: readonly StreamEntry[]): Exchange {
  const at = entries.findLastIndex(({ event }) => event === "opening");
  const opening = entries[at];
  if (opening?.event !== "opening" || opening.data.base === undefined)
    throw new Error("no opening with a base");
  const { data } = opening;
  const { clobsim } = opening.data.base.content as { readonly clobsim?: { readonly digest: string } };
  const origin = originOfJournal(data as unknown as OpeningData, "stream");
  const exchange = new Exchange(origin.config, origin.start);
  origin.play(exchange);
  if (clobsim !== undefined) exchange.restore({ ...exchange.snapshot(), digest: clobsim.digest });
  if (exchange.hash !== data.hash) throw new Error(`the opening says ${data.hash}, found ${exchange.hash}`);
  for (const entry of entries.slice(at + 1)) {
    if (entry.event !== "command") continue;
    const { s, t, k, d, r } = entry.data;
    const decision = exchange.replay({ at: millis(t), command: { kind: k, ...d } as Command });
    const caused = decision.ok ? hex8(eventHash(decision.events)) : decision.refusal.code;
    if (exchange.sequence !== s || caused !== r) throw new Error(`command ${s}: ${r} told, ${caused} found`);
  }
  return exchange;
}
