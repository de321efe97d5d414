import { eventStreamReader, type StreamEntry, streamEntry } from "../../src/api/event-stream.ts";
import type { Command } from "../../src/core/commands.ts";
import { hex8 } from "../../src/core/hash.ts";
import { millis } from "../../src/core/units.ts";
import { Exchange } from "../../src/engine/exchange.ts";
import { eventHash } from "../../src/engine/hashes.ts";
import type { OpeningData } from "../../src/engine/journal-line.ts";
import { originOfJournal } from "../../src/engine/origin.ts";

/**
 * Reads the live feed of a server. Each number of `cuts` ends one connection after that many bytes; the reader then
 * reconnects. The bytes of the first chunk do not count.
 */
export class StreamReader {
  readonly entries: StreamEntry[] = [];
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

  /** Waits until the latest entry satisfies a condition, and returns it. */
  async until(isAwaited: (entry: StreamEntry) => boolean): Promise<StreamEntry> {
    for (;;) {
      const { last } = this;
      if (last !== undefined && isAwaited(last)) return last;
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

  async #connect(maxBytes: number): Promise<void> {
    const ending = new AbortController();
    const signal = AbortSignal.any([ending.signal, this.#abort.signal]);
    const headers = this.last === undefined ? {} : { "last-event-id": this.last.id };
    try {
      const reply = await fetch(`${this.#url}/sim/stream${this.#query}`, { headers, signal });
      if (reply.status !== 200) throw new Error(await reply.text());
      const read = eventStreamReader();
      let left = maxBytes;
      for await (const bytes of reply.body as unknown as AsyncIterable<Uint8Array>) {
        const isFirst = this.last === undefined;
        for (const event of read(isFirst ? bytes : bytes.subarray(0, left))) {
          this.entries.push(streamEntry(event));
          // `until` checks each entry.
          this.#waiting?.();
          await Promise.resolve();
        }
        if (!isFirst) left -= bytes.length;
        if (left <= 0 && !isFirst) break;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      ending.abort();
    }
  }
}

/** The reasons of the openings among the entries. */
export const reasonsOf = ({ entries }: { readonly entries: readonly StreamEntry[] }): string[] =>
  entries.flatMap((entry) => (entry.event === "opening" ? [entry.data.reason] : []));

/** Replays the entries after the latest opening. @throws Error if a command has another result than its entry says. */
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
  if (exchange.hash !== data.hash)
    throw new Error(`expected the opening's hash ${data.hash}, found ${exchange.hash}`);
  for (const entry of entries.slice(at + 1)) {
    if (entry.event !== "command") continue;
    const { s, t, k, d, r } = entry.data;
    const decision = exchange.replay({ at: millis(t), command: { kind: k, ...d } as Command });
    const result = decision.ok ? hex8(eventHash(decision.events)) : decision.refusal.code;
    if (exchange.sequence !== s || result !== r)
      throw new Error(`command ${s}: expected ${r}, found ${result}`);
  }
  return exchange;
}
