import { setImmediate as endOfTurn } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { serviceOf } from "../../src/compose.ts";
import type { DiskFile } from "../../src/engine/disk.ts";
import { PersistenceError } from "../../src/engine/journal.ts";
import { JournalFile } from "../../src/engine/journal-file.ts";
import { BEGINNING } from "../../src/engine/journal-line.ts";
import { copyIntact, openCandidate } from "../../src/history/journal-files.ts";
import { HttpService } from "../../src/server/http-server.ts";
import { ExchangeSite } from "../../src/server/site.ts";
import type { Durability } from "../../src/setting.ts";
import { START } from "../support/exchange.ts";
import { type DiskImage, SimulatedDisk } from "../support/simulated-disk.ts";
import { FOLDER, openOn, persistedConfig, withoutLock } from "./support/persisted.ts";
import { takeSteps } from "./support/short-history.ts";

const FULL = Object.assign(new Error("ENOSPC: no space left on device, write"), {
  code: "ENOSPC",
  syscall: "write",
});

describe("a server whose disk is full", () => {
  const closers: (() => void)[] = [];
  afterEach(() => {
    for (const close of closers.splice(0)) close();
  });

  it.each<Durability>(["process", "power"])(
    "%s: answers 503, rolls back what it could not persist, and still serves reads",
    async (durability) => {
      const disk = new SimulatedDisk();
      const config = persistedConfig({ durability, logLevel: "silent" });
      const opened = await openOn(disk, config);
      const http = new HttpService(new ExchangeSite(serviceOf(config, opened)));
      closers.push(() => void http.close());
      const url = `http://127.0.0.1:${await http.listen({ host: "127.0.0.1", port: 0 })}`;
      const post = (question: string): Promise<Response> =>
        fetch(`${url}/sim/markets`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ question }),
        });
      const hash = async (): Promise<unknown> => (await fetch(`${url}/sim/state/hash`)).json();

      expect((await post("Will it rain?")).status).toBe(200);
      const before = await hash();
      disk.before = ({ kind }) => {
        if (kind === "write") throw FULL;
      };
      for (const question of ["Will it snow?", "Will it hail?"]) {
        const refused = await post(question);
        expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([
          503,
          "UNAVAILABLE",
        ]);
        expect(await hash()).toEqual(before);
      }
      const call = JSON.stringify({ jsonrpc: "2.0", id: 9, method: "evm_mine" });
      const unmined = await fetch(`${url}/chain`, { method: "POST", body: Buffer.from(call) });
      expect([unmined.status, await unmined.json()]).toMatchObject([503, { id: 9, error: { code: -32603 } }]);
      expect((await fetch(`${url}/api/markets`)).status).toBe(200);
      const later = await openOn(new SimulatedDisk(withoutLock(disk.image)), config);
      expect({ hash: later.exchange.hash, sequence: later.exchange.sequence }).toEqual(before);
    },
  );
});

describe("a journal that cannot be written", () => {
  it("acknowledges nothing with a running sync", async () => {
    let synced = (): void => {};
    let cutTo = -1;
    const file: DiskFile = {
      size: 0,
      read: () => 0,
      write: (bytes) => bytes.length,
      truncate: (size) => {
        cutTo = size;
      },
      sync: () => {
        throw FULL;
      },
      syncAsync: () => new Promise((resolve) => (synced = resolve)),
      close: () => {},
    };
    const journal = new JournalFile(file, "power", BEGINNING);
    const command = { kind: "deriveCredentials", address: "0x01" } as const;
    journal.append({ sequence: 1, at: START, command }, []);
    const kept = expect(journal.flush(journal.position)).rejects.toBeInstanceOf(PersistenceError);
    await endOfTurn();
    await endOfTurn();
    expect(() => journal.sync()).toThrow(PersistenceError);
    expect(cutTo).toBe(0);
    synced();
    await kept;
  });

  it("prevents writing a later state", async () => {
    const disk = new SimulatedDisk();
    const opened = await openOn(disk);
    takeSteps(opened, 3);
    opened.persistence.flush(opened.persistence.position);
    for (let count = 0; count < 10_000; count += 1) {
      opened.exchange.submit({
        kind: "deriveCredentials",
        address: "0x000000000000000000000000000000000000aaaa",
      });
      if (count === 500) opened.persistence.flush(opened.persistence.position);
    }
    let isFull = true;
    disk.before = ({ kind }) => {
      if (kind === "write" && isFull) throw FULL;
    };
    expect(() => opened.persistence.flush(opened.persistence.position)).toThrow(PersistenceError);
    isFull = false;
    opened.persistence.flush(opened.persistence.position);
    await endOfTurn();
    await opened.close();
    expect(disk.names(FOLDER)).toEqual(["journal.ndjson"]);
    const later = await openOn(new SimulatedDisk(disk.image));
    expect(later.exchange.hash).toBe(opened.exchange.hash);
  });
});

describe("a full disk", () => {
  const fullDisk = (image: DiskImage = new Map()): SimulatedDisk => {
    const disk = new SimulatedDisk(image);
    disk.before = ({ kind }) => {
      if (kind === "write") throw FULL;
    };
    return disk;
  };

  it("leaves nothing in a data directory that cannot be locked", async () => {
    const disk = fullDisk();
    await expect(openOn(disk)).rejects.toThrow(FULL.message);
    expect(disk.names(FOLDER)).toEqual([]);
  });

  it("leaves nothing of a repaired journal, so that the repair can be tried again", async () => {
    const disk = new SimulatedDisk();
    await (await openOn(disk)).close();
    const full = fullDisk(disk.image);
    const place = openCandidate(full, FOLDER);
    const copy = (): void => copyIntact(full, place, place.file.size, "/new");
    expect(copy).toThrow(FULL.message);
    expect(full.names("/new")).toEqual([]);
    full.before = () => {};
    copy();
    expect(full.names("/new")).toEqual(["journal.ndjson"]);
  });
});
