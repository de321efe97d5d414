import { execFile } from "node:child_process";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { crc32 } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { cacheFolder } from "../src/cache-folder.ts";
import { temporaryFolder } from "./support/folder.ts";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PROGRAM = join(ROOT, "bin", "clobsim.js");
const parent = temporaryFolder();
let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(parent, "cache-"));
});

const cache = () => {
  const cache = cacheFolder({ CLOBSIM_CACHE: folder });
  if (cache === null) throw new Error("expected a folder");
  return cache;
};
const contents = Buffer.from("any contents");

describe("the cache folder", () => {
  it("reads what was written under a name, and nothing under another", () => {
    cache().write("kind", "name", contents);
    expect(cache().read("kind", "name")?.equals(contents)).toBe(true);
    expect(cache().read("kind", "another")).toBeNull();
    expect(cache().read("another", "name")).toBeNull();
  });

  it("does not read a file that is damaged or truncated", () => {
    cache().write("kind", "name", contents);
    const path = join(folder, "kind-name");
    const whole = readFileSync(path);
    for (let at = 0; at < whole.length; at += 1) {
      const damaged = Buffer.from(whole);
      damaged[at] = (damaged[at] as number) ^ 4;
      writeFileSync(path, damaged);
      expect(cache().read("kind", "name")).toBeNull();
      writeFileSync(path, whole.subarray(0, at));
      expect(cache().read("kind", "name")).toBeNull();
    }
  });

  it.skipIf(process.platform === "win32")(
    "reads no pipe, directory or device, and replaces a pipe",
    async () => {
      const path = join(folder, "kind-name");
      await run("mkfifo", [path]);
      expect(cache().read("kind", "name")).toBeNull();
      cache().write("kind", "name", contents);
      expect(cache().read("kind", "name")?.equals(contents)).toBe(true);
      mkdirSync(join(folder, "kind-folder"));
      symlinkSync("/dev/zero", join(folder, "kind-device"));
      for (const name of ["folder", "device"]) expect(cache().read("kind", name)).toBeNull();
    },
  );

  it("holds nothing where it cannot be", () => {
    writeFileSync(join(folder, "file"), "");
    folder = join(folder, "file", "below");
    cache().write("kind", "name", contents);
    expect(cache().read("kind", "name")).toBeNull();
  });

  it("keeps the latest 16 files of a kind", () => {
    for (let number = 1; number <= 18; number += 1) {
      cache().write("kind", String(number), contents);
      utimesSync(join(folder, `kind-${number}`), number, number);
    }
    cache().write("another", "name", contents);
    expect(readdirSync(folder).length).toBe(17);
    // Files of the user are neither counted nor removed.
    const own = Array.from({ length: 17 }, (_, number) => `kind-${number}.json`);
    for (const name of own) writeFileSync(join(folder, name), "");
    cache().write("kind", "18", contents);
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(own));
    expect(cache().read("kind", "2")).toBeNull();
    expect(cache().read("kind", "3")).not.toBeNull();
  });

  it("keeps 128 MiB of a kind, and the latest file of any size", () => {
    for (const [number, mebibytes] of [108, 20, 0].entries()) {
      cache().write("kind", String(number), contents);
      // A file with a hole, because writing so many bytes takes a second.
      truncateSync(join(folder, `kind-${number}`), mebibytes * 1024 * 1024);
      utimesSync(join(folder, `kind-${number}`), number + 1, number + 1);
      const expected = [["kind-0"], ["kind-0", "kind-1"], ["kind-1", "kind-2"]];
      expect(readdirSync(folder)).toEqual(expected[number]);
    }
    cache().write("kind", "3", Buffer.alloc(129 * 1024 * 1024));
    expect(readdirSync(folder)).toEqual(["kind-3"]);
  });

  it("is in the system's cache folder, or off", () => {
    expect(cacheFolder({ CLOBSIM_CACHE: "off" })).toBeNull();
    const own = process.platform === "win32" ? "LOCALAPPDATA" : "XDG_CACHE_HOME";
    cacheFolder({ [own]: folder })?.write("kind", "name", contents);
    expect(readdirSync(join(folder, "clobsim"))).toEqual(["kind-name"]);
  });

  it("is off if the environment names no folder of the user, which would be one of the project", () => {
    for (const environment of [
      {},
      { HOME: "" },
      { XDG_CACHE_HOME: "cache" },
      { HOME: "home", LOCALAPPDATA: "local" },
    ])
      expect(cacheFolder(environment)).toBeNull();
    if (process.platform === "win32") return;
    cacheFolder({ HOME: folder, XDG_CACHE_HOME: "cache" })?.write("kind", "name", contents);
    expect(readdirSync(join(folder, ".cache", "clobsim"))).toEqual(["kind-name"]);
  });
});

describe("the program", () => {
  const printed = async (cache: string, program = PROGRAM): Promise<string> => {
    const env = { ...process.env, CLOBSIM_CACHE: cache };
    const options = { env, timeout: 300_000 };
    return (await run(process.execPath, [program, "completion", "bash"], options)).stdout;
  };
  const files = (): string[] => readdirSync(folder);

  it("caches V8's code for each command, and uses it at the next start", async () => {
    const first = await printed(folder);
    expect(files().map((name) => name.replace(/[0-9a-f]{1,8}$/, ""))).toEqual(["code-completion-"]);
    const path = join(folder, files()[0] as string);
    utimesSync(path, 1, 1);
    const before = readFileSync(path);
    expect(await printed(folder)).toBe(first);
    expect(files().length).toBe(1);
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it("does not use the cached code of another installation, whose paths its stack traces would show", async () => {
    const another = join(folder, "another");
    for (const part of ["bin", "dist", "package.json"])
      cpSync(join(ROOT, part), join(another, part), { recursive: true });
    const shared = join(folder, "shared");
    expect(await printed(shared)).toBe(await printed(shared, join(another, "bin", "clobsim.js")));
    expect(readdirSync(shared).length).toBe(2);
  });

  it("replaces a cached file that is damaged, or complete but not code of V8 or of another version", async () => {
    const first = await printed(folder);
    const path = join(folder, files()[0] as string);
    const file = readFileSync(path);
    for (const wrong of [
      file.subarray(0, file.length >> 1),
      withCheck(Buffer.from("not V8's code")),
      withCheck(ofAnotherVersion(file.subarray(4))),
    ]) {
      writeFileSync(path, wrong);
      expect(await printed(folder)).toBe(first);
      expect(readFileSync(path).equals(wrong)).toBe(false);
    }
  });

  it("starts several times at once, where no folder can be made, and without write permission", async () => {
    const caches = [folder, folder, folder, "off", PROGRAM, "/proc/nowhere/below"];
    const texts = await Promise.all(caches.map((cache) => printed(cache)));
    expect(new Set(texts).size).toBe(1);
    expect(files().length).toBe(1);
    chmodSync(folder, 0o500);
    expect(await printed(folder)).toBe(texts[0]);
    chmodSync(folder, 0o700);
  });
});

const withCheck = (bytes: Buffer): Buffer => {
  const check = Buffer.alloc(4);
  check.writeUInt32LE(crc32(bytes));
  return Buffer.concat([check, bytes]);
};

/** V8 writes a magic number and a hash of its version first. */
function ofAnotherVersion(code: Buffer): Buffer {
  const other = Buffer.from(code);
  other.writeUInt32LE((other.readUInt32LE(4) ^ 1) >>> 0, 4);
  return other;
}
