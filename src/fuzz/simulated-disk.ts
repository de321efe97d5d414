import { dirname } from "node:path";
import type { Disk, DiskFile, Opening } from "../engine/disk.ts";

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
export interface Call {
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
