import { dirname } from "node:path";
import { DEFAULT_CONFIG } from "../config.ts";
import { parseDocument } from "../core/rebuild-state.ts";
import type { ExchangeConfig, State } from "../core/state.ts";
import { documentLines } from "../core/state-document.ts";
import type { Millis } from "../core/units.ts";
import type { Disk, DiskFile, OpenMode } from "../engine/disk.ts";
import type { Exchange } from "../engine/exchange.ts";
import { JOURNAL_FILE } from "../engine/files.ts";
import { LOCK_FILE } from "../engine/folder-lock.ts";
import { type Entry, type Journal, noJournal } from "../engine/journal.ts";
import { type OpenedExchange, openExchange as openKept } from "../engine/open-exchange.ts";
import { originOfWorld } from "../engine/origin.ts";
import { SessionLog } from "../engine/session-log.ts";
import { emptyWorld } from "../simulation/opening.ts";

/** Opens the exchange of a history; another one stands in for it where a defect is planted. */
export type OpenExchange = (config: ExchangeConfig, start: Millis, journal: Journal) => Exchange;

/** What a history runs on. */
export interface ExchangeHost {
  readonly exchange: Exchange;
  /** What was accepted, in order; null where that is known on a disk alone. */
  readonly entries: readonly Entry[] | null;
  /** The bytes of its journal; null where it has none. */
  readonly journal: Uint8Array | null;
  /** Puts an exchange in its place that was read from what is kept of it. */
  reopen(): Promise<void>;
}

/** An exchange in memory; reopened, it goes on with its state as it was written and read. */
export class ExchangeInMemory implements ExchangeHost {
  readonly exchange: Exchange;
  readonly journal = null;
  readonly #log = new SessionLog(Number.POSITIVE_INFINITY);

  constructor(config: ExchangeConfig, start: Millis, open: OpenExchange) {
    this.exchange = openEmpty(config, start, open, this.#log);
    this.#log.begin();
  }

  get entries(): readonly Entry[] {
    return this.#log.entries ?? [];
  }

  async reopen(): Promise<void> {
    const snapshot = this.exchange.snapshot();
    this.exchange.restore({ ...snapshot, state: writtenAndRead(snapshot.state) });
  }
}

/** An exchange that stands where a report of its history begins. */
export function openEmpty(
  config: ExchangeConfig,
  start: Millis,
  open: OpenExchange,
  journal: Journal = noJournal,
): Exchange {
  const exchange = open(config, start, journal);
  originOfWorld(emptyWorld(config.seed), config, start).play(exchange);
  return exchange;
}

/** A state as its document is read. */
function writtenAndRead(state: State): State {
  const text = `{\n${[...documentLines(state)].join("\n")}\n}`;
  return parseDocument([new TextEncoder().encode(text)], (bytes) => new TextDecoder().decode(bytes)).state;
}

const FOLDER = "/data";

/** An exchange on a disk in memory; reopened, it goes on as after the death of its process. */
export class ExchangeOnDisk implements ExchangeHost {
  readonly entries = null;
  readonly #config: ExchangeConfig;
  readonly #start: Millis;
  #disk = new MemoryDisk();
  #opened: OpenedExchange;

  private constructor(config: ExchangeConfig, start: Millis, disk: MemoryDisk, opened: OpenedExchange) {
    this.#config = config;
    this.#start = start;
    this.#disk = disk;
    this.#opened = opened;
  }

  static async open(config: ExchangeConfig, start: Millis): Promise<ExchangeOnDisk> {
    const disk = new MemoryDisk();
    return new ExchangeOnDisk(config, start, disk, await openOn(disk, config, start, true));
  }

  get exchange(): Exchange {
    return this.#opened.exchange;
  }

  get journal(): Uint8Array | null {
    return this.#disk.image.get(`${FOLDER}/${JOURNAL_FILE}`) ?? null;
  }

  async reopen(): Promise<void> {
    const { exchange, persistence } = this.#opened;
    await persistence.flush(persistence.position);
    const left = new Map(this.#disk.image);
    left.delete(`${FOLDER}/${LOCK_FILE}`);
    this.#disk = new MemoryDisk(left);
    this.#opened = await openOn(this.#disk, this.#config, this.#start, false);
    // That time has passed, and nothing else, is nowhere written down.
    this.#opened.exchange.advanceTo(exchange.now);
  }
}

function openOn(
  disk: MemoryDisk,
  config: ExchangeConfig,
  start: Millis,
  isNew: boolean,
): Promise<OpenedExchange> {
  const origin = isNew ? originOfWorld(emptyWorld(config.seed), config, start) : null;
  const kept = { ...DEFAULT_CONFIG, data: FOLDER, clock: { mode: "frozen" } as const };
  return openKept(kept, () => {}, { disk, wallNow: () => start }, origin);
}

/** The files of a disk at one moment, by their paths. */
export type Image = ReadonlyMap<string, Uint8Array>;

/** Bytes that grow and shrink. */
export class Bytes {
  #room: Uint8Array;
  size: number;

  constructor(bytes: Uint8Array = new Uint8Array(0)) {
    this.#room = new Uint8Array(bytes);
    this.size = bytes.length;
  }

  get view(): Uint8Array {
    return this.#room.subarray(0, this.size);
  }

  write(bytes: Uint8Array, position: number): void {
    const end = position + bytes.length;
    if (end > this.size) this.resize(end);
    this.#room.set(bytes, position);
  }

  resize(size: number): void {
    if (size > this.#room.length) {
      const room = new Uint8Array(Math.max(size, this.#room.length * 2));
      room.set(this.view);
      this.#room = room;
    }
    if (size > this.size) this.#room.fill(0, this.size, size);
    this.size = size;
  }
}

const failure = (code: string, path: string, syscall: string): Error =>
  Object.assign(new Error(`${code}: ${syscall} '${path}'`), { code, syscall, path });

/** A disk in memory. */
export class MemoryDisk implements Disk {
  protected readonly files = new Map<string, Bytes>();
  readonly #folders = new Set<string>(["/"]);

  constructor(image: Image = new Map()) {
    for (const [path, bytes] of image) {
      this.files.set(path, new Bytes(bytes));
      this.#folders.add(dirname(path));
    }
  }

  /** What everybody sees, which is what the end of a process leaves. */
  get image(): Image {
    return new Map([...this.files].map(([path, { view }]) => [path, view.slice()]));
  }

  makeFolder(path: string): void {
    this.#folders.add(path);
  }

  names(path: string): string[] | null {
    if (this.files.has(path)) throw failure("ENOTDIR", path, "scandir");
    if (!this.#folders.has(path)) return null;
    const inside = [...this.files.keys()].filter((name) => dirname(name) === path);
    return inside.map((name) => name.slice(path.length + 1)).sort();
  }

  open(path: string, how: OpenMode): DiskFile {
    const found = this.files.get(path);
    if (how === "new" && found !== undefined) throw failure("EEXIST", path, "open");
    if (how === "read" && found === undefined) throw failure("ENOENT", path, "open");
    const bytes = found ?? new Bytes();
    this.files.set(path, bytes);
    return {
      get size() {
        return bytes.size;
      },
      read: (into, position) => {
        const read = bytes.view.subarray(position, position + into.length);
        into.set(read);
        return read.length;
      },
      write: (written, position) => {
        bytes.write(written, position);
        return written.length;
      },
      truncate: (size) => bytes.resize(size),
      sync: () => {},
      syncAsync: async () => {},
      close: () => {},
    };
  }

  rename(from: string, to: string): void {
    const moved = this.#find(from, "rename");
    this.files.delete(from);
    this.files.set(to, moved);
  }

  link(from: string, to: string): void {
    if (this.files.has(to)) throw failure("EEXIST", to, "link");
    this.files.set(to, this.#find(from, "link"));
  }

  remove(path: string): void {
    this.#find(path, "unlink");
    this.files.delete(path);
  }

  syncFolder(_path: string): void {}

  #find(path: string, syscall: string): Bytes {
    const found = this.files.get(path);
    if (found === undefined) throw failure("ENOENT", path, syscall);
    return found;
  }
}
