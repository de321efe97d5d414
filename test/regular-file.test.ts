import {
  accessSync,
  chmodSync,
  chownSync,
  fstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { createComplete, replaceFile } from "../src/regular-file.ts";
import { TestFolder } from "./support/folder.ts";

vi.mock("node:fs", async (original) => {
  const fs = await original<typeof import("node:fs")>();
  const { accessSync, chownSync, renameSync, writeFileSync } = fs;
  return {
    ...fs,
    accessSync: vi.fn(accessSync),
    chownSync: vi.fn(chownSync),
    renameSync: vi.fn(renameSync),
    writeFileSync: vi.fn(writeFileSync),
  };
});

const folder = new TestFolder();
let count = 0;
let path = "";
const content = (): string => readFileSync(path, "utf8");
const names = (): string[] => readdirSync(join(path, ".."));

beforeEach(() => {
  count += 1;
  path = folder.write(`${count}/file.txt`, "before");
});

/** An error of the system. */
const failure = (code: string) => Object.assign(new Error(`${code}: no`), { code, syscall: "write" });

/** Makes the disk full during the next write. */
function fill(): void {
  vi.mocked(writeFileSync).mockImplementationOnce((file) => {
    writeFileSync(file, "a part");
    throw failure("ENOSPC");
  });
}

describe("a file that is replaced", () => {
  it("is as before if its new content does not fit on the disk, and the error names it", () => {
    fill();
    expect(() => replaceFile(path, "after")).toThrow(expect.objectContaining({ code: "ENOSPC", path }));
    expect([content(), names()]).toEqual(["before", ["file.txt"]]);
  });

  it("has its mode and its links, and no draft is left", () => {
    chmodSync(path, 0o664);
    const link = join(path, "..", "link");
    symlinkSync("file.txt", link);
    replaceFile(link, "after");
    expect([content(), readFileSync(link, "utf8")]).toEqual(["after", "after"]);
    expect(names()).toEqual(["file.txt", "link"]);
    if (process.platform !== "win32") expect(statSync(path).mode & 0o777).toBe(0o664);
  });

  it("is made where a link leads to nothing yet", () => {
    const link = join(path, "..", "link");
    symlinkSync("made.txt", link);
    replaceFile(link, "after");
    expect(readFileSync(join(path, "..", "made.txt"), "utf8")).toBe("after");
  });

  it.each([
    ["folder does not let it be replaced", renameSync, "EACCES"],
    ["path is a mount point", renameSync, "EBUSY"],
    ["owner is another user", chownSync, "EPERM"],
  ])("gets its content if its %s", (_why, call, code) => {
    vi.mocked<() => void>(call as () => void).mockImplementationOnce(() => {
      throw failure(code);
    });
    const { ino } = statSync(path);
    replaceFile(path, "after");
    expect([content(), names(), statSync(path).ino]).toEqual(["after", ["file.txt"], ino]);
  });

  it.skipIf(process.platform === "win32")("that is private has no draft that others can read", () => {
    chmodSync(path, 0o600);
    let mode = 0;
    vi.mocked(writeFileSync).mockImplementationOnce((file) => {
      mode = fstatSync(file as number).mode & 0o777;
    });
    replaceFile(path, "after");
    expect(mode).toBe(0o600);
  });

  it("is not replaced if it may not be written", () => {
    vi.mocked(accessSync).mockImplementationOnce(() => {
      throw failure("EACCES");
    });
    expect(() => replaceFile(path, "after")).toThrow("EACCES");
    expect(content()).toBe("before");
  });
});

describe("a file that is created", () => {
  it("does not exist if it does not fit on the disk", () => {
    const other = join(path, "..", "other");
    fill();
    expect(() => createComplete(other, "whole")).toThrow(
      expect.objectContaining({ code: "ENOSPC", path: other }),
    );
    expect(names()).toEqual(["file.txt"]);
  });

  it("replaces no other", () => {
    expect(() => createComplete(path, "after")).toThrow("EEXIST");
    expect(content()).toBe("before");
  });
});
