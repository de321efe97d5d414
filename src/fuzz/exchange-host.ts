import { dirname } from "node:path";
import { DEFAULT_CONFIG } from "../config.ts";
import { parseDocument } from "../core/rebuild-state.ts";
import type { ExchangeConfig, State } from "../core/state.ts";
import { documentLines } from "../core/state-document.ts";
import type { Millis } from "../core/units.ts";
import type { Disk, DiskFile, OpenMode } from "../engine/disk.ts";
import type { Exchange } from "../engine/exchange.ts";
import { JOURNAL_FILE, LOCK_FILE } from "../engine/files.ts";
import { type Journal, noJournal, SessionLog } from "../engine/journal.ts";
import { type OpenedExchange, openExchange } from "../engine/open-exchange.ts";
import { originOfWorld } from "../engine/origin.ts";
import { emptyWorld } from "../simulation/opening.ts";

/** Opens the exchange of a history. Tests pass one that opens an exchange with a planted defect. */
export type OpenExchange = (config: ExchangeConfig, start: Millis, journal: Journal) => Exchange;

/** An exchange that can be closed and opened again. */
export interface ExchangeHost {
  readonly exchange: Exchange;
  /** The session in memory, or the bytes of the journal on its disk. */
  readonly record: SessionLog | Uint8Array;
  /** Replaces the exchange by one that is opened from the persisted data. */
  reopen(): Promise<void>;
}

/** An exchange in memory. To reopen it writes its state as a document and reads it back. */
export class ExchangeInMemory implements ExchangeHost {
  readonly exchange: Exchange;
  readonly record = new SessionLog(Number.POSITIVE_INFINITY);

  constructor(config: ExchangeConfig, start: Millis, open: OpenExchange) {
    this.exchange = openEmpty(config, start, open, this.record);
    this.record.begin();
  }

  async reopen(): Promise<void> {
    const snapshot = this.exchange.snapshot();
    this.exchange.restore({ ...snapshot, state: throughDocument(snapshot.state) });
  }
}

/** Opens an exchange with an empty world, as at the beginning of a history's report. */
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

/** Writes a state as a document and reads it back. */
function throughDocument(state: State): State {
  const text = `{\n${[...documentLines(state)].join("\n")}\n}`;
  return parseDocument([new TextEncoder().encode(text)], (bytes) => new TextDecoder().decode(bytes)).state;
}

const FOLDER = "/data";

/** An exchange on a disk in memory, reopened as after a crash of its process. */
export class ExchangeOnDisk implements ExchangeHost {
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

  get record(): Uint8Array {
    return this.#disk.image.get(`${FOLDER}/${JOURNAL_FILE}`) as Uint8Array;
  }

  async reopen(): Promise<void> {
    const { exchange, persistence } = this.#opened;
    await persistence.flush(persistence.position);
    const files = new Map(this.#disk.image);
    files.delete(`${FOLDER}/${LOCK_FILE}`);
    this.#disk = new MemoryDisk(files);
    this.#opened = await openOn(this.#disk, this.#config, this.#start, false);
    // Time that passed after the latest command is not persisted.
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
  const diskConfig = { ...DEFAULT_CONFIG, data: FOLDER, clock: { mode: "frozen" } as const };
  return openExchange(diskConfig, () => {}, { disk, wallNow: () => start }, origin);
}

/** Contents of the files of a disk at one moment, by path. */
export type DiskImage = ReadonlyMap<string, Uint8Array>;

/** Contents of a file in memory. */
export class GrowableBytes {
  #buffer: Uint8Array;
  size: number;

  constructor(bytes: Uint8Array = new Uint8Array(0)) {
    this.#buffer = new Uint8Array(bytes);
    this.size = bytes.length;
  }

  get view(): Uint8Array {
    return this.#buffer.subarray(0, this.size);
  }

  write(bytes: Uint8Array, position: number): void {
    const end = position + bytes.length;
    if (end > this.size) this.resize(end);
    this.#buffer.set(bytes, position);
  }

  resize(size: number): void {
    if (size > this.#buffer.length) {
      const buffer = new Uint8Array(Math.max(size, this.#buffer.length * 2));
      buffer.set(this.view);
      this.#buffer = buffer;
    }
    if (size > this.size) this.#buffer.fill(0, this.size, size);
    this.size = size;
  }
}

const failure = (code: string, path: string, syscall: string): Error =>
  Object.assign(new Error(`${code}: ${syscall} '${path}'`), { code, syscall, path });

/** A disk in memory without faults. */
export class MemoryDisk implements Disk {
  protected readonly files = new Map<string, GrowableBytes>();
  readonly #folders = new Set<string>(["/"]);

  constructor(image: DiskImage = new Map()) {
    for (const [path, bytes] of image) {
      this.files.set(path, new GrowableBytes(bytes));
      this.#folders.add(dirname(path));
    }
  }

  /** Contents of all files as any process reads them now, synced or not. */
  get image(): DiskImage {
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
    const bytes = found ?? new GrowableBytes();
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

  #find(path: string, syscall: string): GrowableBytes {
    const found = this.files.get(path);
    if (found === undefined) throw failure("ENOENT", path, syscall);
    return found;
  }
}
