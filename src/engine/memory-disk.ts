import { dirname } from "node:path";
import type { Disk, DiskFile, OpenMode } from "./disk.ts";

/** A file in memory. It writes into the given bytes until they are too short. */
export class MemoryFile implements DiskFile {
  #buffer: Uint8Array;
  size: number;

  constructor(bytes: Uint8Array = new Uint8Array(0)) {
    this.#buffer = bytes;
    this.size = bytes.length;
  }

  get view(): Uint8Array {
    return this.#buffer.subarray(0, this.size);
  }

  read(into: Uint8Array, position: number): number {
    const piece = this.view.subarray(position, position + into.length);
    into.set(piece);
    return piece.length;
  }

  write(bytes: Uint8Array, position: number): number {
    const end = position + bytes.length;
    if (end > this.size) this.truncate(end);
    this.#buffer.set(bytes, position);
    return bytes.length;
  }

  /** Appends zeros if the file is shorter. */
  truncate(size: number): void {
    if (size > this.#buffer.length) {
      const buffer = new Uint8Array(Math.max(size, this.#buffer.length * 2));
      buffer.set(this.view);
      this.#buffer = buffer;
    }
    if (size > this.size) this.#buffer.fill(0, this.size, size);
    this.size = size;
  }

  sync(): void {}

  async syncAsync(): Promise<void> {}

  close(): void {}
}

/** Contents of the files of a disk at one moment, by path. */
export type DiskImage = ReadonlyMap<string, Uint8Array>;

const failure = (code: string, path: string, syscall: string): Error =>
  Object.assign(new Error(`${code}: ${syscall} '${path}'`), { code, syscall, path });

/** A disk in memory, which never fails. */
export class MemoryDisk implements Disk {
  protected readonly files = new Map<string, MemoryFile>();
  readonly #folders = new Set<string>(["/"]);

  constructor(image: DiskImage = new Map()) {
    for (const [path, bytes] of image) {
      this.files.set(path, new MemoryFile(new Uint8Array(bytes)));
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
    const file = found ?? new MemoryFile();
    this.files.set(path, file);
    return file;
  }

  identity(path: string): unknown {
    return this.files.get(path) ?? null;
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

  #find(path: string, syscall: string): MemoryFile {
    const found = this.files.get(path);
    if (found === undefined) throw failure("ENOENT", path, syscall);
    return found;
  }
}
