import { dirname } from "node:path";
import { DEFAULT_CONFIG } from "../config.ts";
import { parseDocument } from "../core/rebuild-state.ts";
import type { ExchangeConfig, State } from "../core/state.ts";
import { documentLines } from "../core/state-document.ts";
import type { Millis } from "../core/units.ts";
import type { Disk, DiskFile, Opening } from "../engine/disk.ts";
import type { Exchange } from "../engine/exchange.ts";
import { JOURNAL_FILE } from "../engine/files.ts";
import { LOCK_FILE } from "../engine/folder-lock.ts";
import { type Entry, type Journal, noJournal } from "../engine/journal.ts";
import { type OpenedExchange, openExchange as openKept } from "../engine/open-exchange.ts";
import { originOfWorld } from "../engine/origin.ts";
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
export class ExchangeInMemory implements ExchangeHost, Journal {
  readonly exchange: Exchange;
  readonly entries: Entry[] = [];
  readonly journal = null;

  constructor(config: ExchangeConfig, start: Millis, open: OpenExchange) {
    this.exchange = openEmpty(config, start, open, this);
  }

  append(entry: Entry): void {
    this.entries.push(entry);
  }

  mark(): number {
    return this.entries.length;
  }

  rewind(sequence: number): void {
    this.entries.length = sequence;
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

/** An exchange on a simulated disk; reopened, it goes on as after the death of its process. */
export class ExchangeOnDisk implements ExchangeHost {
  readonly entries = null;
  readonly #config: ExchangeConfig;
  readonly #start: Millis;
  #disk = new SimulatedDisk();
  #opened: OpenedExchange;

  private constructor(config: ExchangeConfig, start: Millis, disk: SimulatedDisk, opened: OpenedExchange) {
    this.#config = config;
    this.#start = start;
    this.#disk = disk;
    this.#opened = opened;
  }

  static async open(config: ExchangeConfig, start: Millis): Promise<ExchangeOnDisk> {
    const disk = new SimulatedDisk();
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
    this.#disk = new SimulatedDisk(left);
    this.#opened = await openOn(this.#disk, this.#config, this.#start, false);
    // That time has passed, and nothing else, is nowhere written down.
    this.#opened.exchange.advanceTo(exchange.now);
  }
}

function openOn(
  disk: SimulatedDisk,
  config: ExchangeConfig,
  start: Millis,
  isNew: boolean,
): Promise<OpenedExchange> {
  const origin = isNew ? originOfWorld(emptyWorld(config.seed), config, start) : null;
  const kept = { ...DEFAULT_CONFIG, data: FOLDER, clock: { mode: "frozen" } as const };
  return openKept(kept, () => {}, { disk, wallNow: () => start }, origin);
}

/** Something that a disk was told and may not have carried out when the power fails. */
export type DataChange =
  | { readonly kind: "write"; readonly position: number; readonly bytes: Uint8Array }
  | { readonly kind: "cut"; readonly size: number };
type NameChange =
  | { readonly kind: "make"; readonly path: string; readonly content: Content }
  | { readonly kind: "rename"; readonly from: string; readonly path: string }
  | { readonly kind: "remove"; readonly path: string };

export type CallKind =
  | "open"
  | "write"
  | "cut"
  | "sync"
  | "rename"
  | "link"
  | "remove"
  | "syncFolder"
  | "makeFolder";
interface Call {
  readonly kind: CallKind;
  readonly path: string;
}

/** Bytes that grow and shrink. */
class Bytes {
  #room: Uint8Array;
  size: number;

  constructor(bytes: Uint8Array = new Uint8Array(0)) {
    this.#room = new Uint8Array(bytes);
    this.size = bytes.length;
  }

  get view(): Uint8Array {
    return this.#room.subarray(0, this.size);
  }

  apply(change: DataChange): void {
    if (change.kind === "cut") this.#resize(change.size);
    else {
      const end = change.position + change.bytes.length;
      if (end > this.size) this.#resize(end);
      this.#room.set(change.bytes, change.position);
    }
  }

  #resize(size: number): void {
    if (size > this.#room.length) {
      const room = new Uint8Array(Math.max(size, this.#room.length * 2));
      room.set(this.view);
      this.#room = room;
    }
    if (size > this.size) this.#room.fill(0, this.size, size);
    this.size = size;
  }
}

/** What a file holds: as everybody sees it, as it is on the disk itself, and what is between the two. */
class Content {
  readonly seen: Bytes;
  readonly safe: Bytes;
  waiting: DataChange[] = [];

  constructor(bytes?: Uint8Array) {
    this.seen = new Bytes(bytes);
    this.safe = new Bytes(bytes);
  }

  change(change: DataChange): void {
    this.seen.apply(change);
    this.waiting.push(change);
  }

  settle(count: number): void {
    for (const change of this.waiting.splice(0, count)) this.safe.apply(change);
  }
}

const failure = (code: string, path: string, syscall: string): Error =>
  Object.assign(new Error(`${code}: ${syscall} '${path}'`), { code, syscall, path });

/** The files of a disk at one moment, by their paths. */
export type Image = ReadonlyMap<string, Uint8Array>;

/** How what was not synced comes out of a power failure: the changes of names and of data that were carried out. */
export interface Outcome {
  /** How many of so many changes of names were carried out. */
  readonly names: (waiting: number) => number;
  /** The changes of data that were carried out, in order, parts of them perhaps. */
  readonly data: (waiting: readonly DataChange[]) => readonly DataChange[];
}

/** A disk in memory that knows what of it would survive the end of the machine. */
export class SimulatedDisk implements Disk {
  readonly #names = new Map<string, Content>();
  readonly #safeNames = new Map<string, Content>();
  readonly #folders = new Set<string>(["/"]);
  #waiting: NameChange[] = [];
  /** Called before each call that changes something or syncs; what it throws, the call throws. */
  before: (call: Call) => void = () => {};
  /** How many bytes of a write are taken. */
  taken: (path: string, length: number) => number = (_path, length) => length;

  constructor(image: Image = new Map()) {
    for (const [path, bytes] of image) {
      const content = new Content(bytes);
      this.#names.set(path, content);
      this.#safeNames.set(path, content);
      this.#folders.add(dirname(path));
    }
  }

  /** What everybody sees, which is what the end of a process leaves. */
  get image(): Image {
    return new Map([...this.#names].map(([path, { seen }]) => [path, seen.view.slice()]));
  }

  /** What the end of the machine leaves. */
  afterPowerFailure({ names, data }: Outcome): Image {
    const kept = new Map(this.#safeNames);
    for (const change of this.#waiting.slice(0, names(this.#waiting.length))) applyName(kept, change);
    return new Map(
      [...kept].map(([path, { safe, waiting }]) => {
        const bytes = new Bytes(safe.view);
        for (const change of data(waiting)) bytes.apply(change);
        return [path, bytes.view.slice()];
      }),
    );
  }

  makeFolder(path: string): void {
    this.before({ kind: "makeFolder", path });
    this.#folders.add(path);
  }

  names(path: string): string[] | null {
    if (this.#names.has(path)) throw failure("ENOTDIR", path, "scandir");
    if (!this.#folders.has(path)) return null;
    const inside = [...this.#names.keys()].filter((name) => dirname(name) === path);
    return inside.map((name) => name.slice(path.length + 1)).sort();
  }

  open(path: string, how: Opening): DiskFile {
    const found = this.#names.get(path);
    if (how === "new" && found !== undefined) throw failure("EEXIST", path, "open");
    if (how === "read" && found === undefined) throw failure("ENOENT", path, "open");
    if (how !== "read") this.before({ kind: "open", path });
    const content = found ?? new Content();
    if (found === undefined) this.#change({ kind: "make", path, content });
    return this.#file(path, content);
  }

  rename(from: string, path: string): void {
    this.before({ kind: "rename", path: from });
    this.#find(from, "rename");
    this.#change({ kind: "rename", from, path });
  }

  link(from: string, path: string): void {
    this.before({ kind: "link", path });
    if (this.#names.has(path)) throw failure("EEXIST", path, "link");
    this.#change({ kind: "make", path, content: this.#find(from, "link") });
  }

  remove(path: string): void {
    this.before({ kind: "remove", path });
    this.#find(path, "unlink");
    this.#change({ kind: "remove", path });
  }

  syncFolder(path: string): void {
    this.before({ kind: "syncFolder", path });
    const isInside = (change: NameChange): boolean => dirname(change.path) === path;
    for (const change of this.#waiting.filter(isInside)) applyName(this.#safeNames, change);
    this.#waiting = this.#waiting.filter((change) => !isInside(change));
  }

  #change(change: NameChange): void {
    applyName(this.#names, change);
    this.#waiting.push(change);
  }

  #find(path: string, syscall: string): Content {
    const found = this.#names.get(path);
    if (found === undefined) throw failure("ENOENT", path, syscall);
    return found;
  }

  #file(path: string, content: Content): DiskFile {
    return {
      get size() {
        return content.seen.size;
      },
      read: (into, position) => {
        const bytes = content.seen.view.subarray(position, position + into.length);
        into.set(bytes);
        return bytes.length;
      },
      write: (bytes, position) => {
        this.before({ kind: "write", path });
        const taken = this.taken(path, bytes.length);
        if (taken > 0)
          content.change({ kind: "write", position, bytes: new Uint8Array(bytes.subarray(0, taken)) });
        return taken;
      },
      cut: (size) => {
        this.before({ kind: "cut", path });
        content.change({ kind: "cut", size });
      },
      sync: () => {
        this.before({ kind: "sync", path });
        content.settle(content.waiting.length);
      },
      syncSoon: async () => {
        this.before({ kind: "sync", path });
        const { length } = content.waiting;
        await null;
        content.settle(Math.min(length, content.waiting.length));
      },
      close: () => {},
    };
  }
}

function applyName(names: Map<string, Content>, change: NameChange): void {
  if (change.kind === "make") names.set(change.path, change.content);
  else if (change.kind === "remove") names.delete(change.path);
  else {
    const moved = names.get(change.from);
    if (moved === undefined) return;
    names.delete(change.from);
    names.set(change.path, moved);
  }
}
