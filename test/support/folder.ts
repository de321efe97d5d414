import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";

/** Creates a folder that is removed after the tests of a file. */
export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "clobsim-test-")));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A temporary folder of files. */
export class TestFolder {
  readonly path = temporaryFolder();

  /** Returns the path of a file, which need not exist. */
  at(name: string): string {
    return join(this.path, name);
  }

  /** Writes a file, and returns its path. */
  write(name: string, content: string | Buffer): string {
    const path = this.at(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return path;
  }

  read(name: string): string {
    return readFileSync(this.at(name), "utf8");
  }

  /** Removes the path of the folder from a text. */
  within(text: string): string {
    return text.replaceAll(`${this.path}/`, "");
  }
}
