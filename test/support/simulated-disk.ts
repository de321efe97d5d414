import { dirname } from "node:path";
import type { DiskFile, OpenMode } from "../../src/engine/disk.ts";
import { Bytes, type Image, MemoryDisk } from "../../src/fuzz/exchange-host.ts";

export type { Image } from "../../src/fuzz/exchange-host.ts";

/** Something that a disk was told and may not have carried out when the power fails. */
export type DataChange =
  | { readonly kind: "write"; readonly position: number; readonly bytes: Uint8Array }
  | { readonly kind: "cut"; readonly size: number };
/** Names by which a file is known from now on, or no more. */
interface NameChange {
  readonly path: string;
  readonly apply: (names: Map<string, Kept>) => void;
}

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

/** How what was not synced comes out of a power failure: the changes of names and of data that were carried out. */
export interface Outcome {
  /** How many of so many changes of names were carried out. */
  readonly names: (waiting: number) => number;
  /** The changes of data that were carried out, in order, parts of them perhaps. */
  readonly data: (waiting: readonly DataChange[]) => readonly DataChange[];
}

/** What of a file is on the disk itself, and what is not yet. */
class Kept {
  readonly safe: Bytes;
  waiting: DataChange[] = [];

  constructor(bytes?: Uint8Array) {
    this.safe = new Bytes(bytes);
  }

  settle(count = this.waiting.length): void {
    for (const change of this.waiting.splice(0, count)) apply(this.safe, change);
  }
}

function apply(bytes: Bytes, change: DataChange): void {
  if (change.kind === "cut") bytes.resize(change.size);
  else bytes.write(change.bytes, change.position);
}

/** A disk in memory that knows what of it would survive the end of the machine. */
export class SimulatedDisk extends MemoryDisk {
  readonly #kept = new Map<Bytes, Kept>();
  readonly #safeNames = new Map<string, Kept>();
  #waiting: NameChange[] = [];
  /** Called before each call that changes something or syncs; what it throws, the call throws. */
  before: (call: { readonly kind: CallKind; readonly path: string }) => void = () => {};
  /** How many bytes of a write are taken. */
  taken: (path: string, length: number) => number = (_path, length) => length;

  constructor(image: Image = new Map()) {
    super(image);
    for (const [path, bytes] of this.files) {
      const kept = new Kept(bytes.view);
      this.#kept.set(bytes, kept);
      this.#safeNames.set(path, kept);
    }
  }

  /** What the end of the machine leaves. */
  afterPowerFailure({ names, data }: Outcome): Image {
    const left = new Map(this.#safeNames);
    for (const change of this.#waiting.slice(0, names(this.#waiting.length))) change.apply(left);
    return new Map(
      [...left].map(([path, { safe, waiting }]) => {
        const bytes = new Bytes(safe.view);
        for (const change of data(waiting)) apply(bytes, change);
        return [path, bytes.view.slice()];
      }),
    );
  }

  override makeFolder(path: string): void {
    this.before({ kind: "makeFolder", path });
    super.makeFolder(path);
  }

  override open(path: string, how: OpenMode): DiskFile {
    const isThere = this.files.has(path);
    if (how === "write" || (how === "new" && !isThere)) this.before({ kind: "open", path });
    const file = super.open(path, how);
    if (!isThere) this.#kept.set(this.files.get(path) as Bytes, new Kept());
    const kept = this.#keptAt(path);
    if (!isThere) this.#note(path, (names) => names.set(path, kept));
    return {
      get size() {
        return file.size;
      },
      read: file.read,
      write: (bytes, position) => {
        this.before({ kind: "write", path });
        const taken = new Uint8Array(bytes.subarray(0, this.taken(path, bytes.length)));
        if (taken.length === 0) return 0;
        kept.waiting.push({ kind: "write", position, bytes: taken });
        return file.write(taken, position);
      },
      truncate: (size) => {
        this.before({ kind: "cut", path });
        kept.waiting.push({ kind: "cut", size });
        file.truncate(size);
      },
      sync: () => {
        this.before({ kind: "sync", path });
        kept.settle();
      },
      syncAsync: async () => {
        this.before({ kind: "sync", path });
        const { length } = kept.waiting;
        await null;
        kept.settle(Math.min(length, kept.waiting.length));
      },
      close: file.close,
    };
  }

  override rename(from: string, path: string): void {
    this.before({ kind: "rename", path: from });
    super.rename(from, path);
    this.#note(path, (names) => {
      const moved = names.get(from);
      if (moved === undefined) return;
      names.delete(from);
      names.set(path, moved);
    });
  }

  override link(from: string, path: string): void {
    this.before({ kind: "link", path });
    super.link(from, path);
    const kept = this.#keptAt(path);
    this.#note(path, (names) => names.set(path, kept));
  }

  override remove(path: string): void {
    this.before({ kind: "remove", path });
    super.remove(path);
    this.#note(path, (names) => names.delete(path));
  }

  override syncFolder(path: string): void {
    this.before({ kind: "syncFolder", path });
    const isInside = (change: NameChange): boolean => dirname(change.path) === path;
    for (const change of this.#waiting.filter(isInside)) change.apply(this.#safeNames);
    this.#waiting = this.#waiting.filter((change) => !isInside(change));
  }

  #note(path: string, apply: NameChange["apply"]): void {
    this.#waiting.push({ path, apply });
  }

  #keptAt(path: string): Kept {
    return this.#kept.get(this.files.get(path) as Bytes) as Kept;
  }
}
