import { Buffer } from "node:buffer";
import { setImmediate as endOfTurn } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { serviceOf } from "../../src/compose.ts";
import type { Config } from "../../src/config.ts";
import { millis } from "../../src/core/units.ts";
import { ignoreInGit } from "../../src/engine/files.ts";
import { PersistenceError } from "../../src/engine/journal.ts";
import type { OpenedExchange } from "../../src/engine/open-exchange.ts";
import { copyIntact, openCandidate } from "../../src/history/journal-files.ts";
import { HttpServer } from "../../src/server/http-server.ts";
import { ExchangeSite } from "../../src/server/site.ts";
import type { Durability } from "../../src/setting.ts";
import { addressOf, eventCommand } from "../support/commands.ts";
import { TestExchange } from "../support/exchange.ts";
import { SimulatedDisk } from "../support/simulated-disk.ts";
import { stateHashes } from "../support/state-hashes.ts";
import { FULL, fill, filled } from "./support/failing-disk.ts";
import { FOLDER, flush, JOURNAL, openNew, openOn, persistedConfig } from "./support/persisted.ts";
import { takeSteps } from "./support/short-history.ts";

const JSON_BODY = { "content-type": "application/json" };

describe("a server whose disk fails", () => {
  const closers: (() => void)[] = [];
  afterEach(() => {
    for (const close of closers.splice(0)) close();
  });

  async function serving(durability: Durability) {
    const config = persistedConfig({ durability, logLevel: "silent" });
    const exchange = await openNew(config);
    const http = new HttpServer(new ExchangeSite(serviceOf(config, exchange.opened)));
    closers.push(() => void http.close());
    const url = `http://127.0.0.1:${await http.listen({ host: "127.0.0.1", port: 0 })}`;
    const post = async (path: string, fields: object): Promise<unknown> => {
      const body = JSON.stringify(fields);
      const response = await fetch(url + path, { method: "POST", headers: JSON_BODY, body });
      return [response.status, await response.json()];
    };
    return { ...exchange, url, post };
  }

  it.each<Durability>(["process", "power"])(
    "%s: answers 503 while it is full, rolls back what it could not persist, and still serves reads",
    async (durability) => {
      const { disk, resume, url, post } = await serving(durability);
      const stateNow = async (): Promise<unknown> => {
        const { clock, sequence, stateHash: hash } = await (await fetch(`${url}/sim`)).json();
        return { time: clock.time, sequence, hash };
      };

      expect(await post("/sim/markets", { question: "Will it rain?" })).toMatchObject([200, {}]);
      const before = await stateNow();
      fill(disk);
      const hint =
        "commands are refused, reads continue, everything answered before is persisted: free space on the disk and restart";
      for (const question of ["Will it snow?", "Will it hail?"]) {
        expect(await post("/sim/markets", { question })).toMatchObject([503, { code: "UNAVAILABLE", hint }]);
        expect(await post("/sim/clock", { advance: "1h" })).toMatchObject([503, { code: "UNAVAILABLE" }]);
        expect(await stateNow()).toEqual(before);
      }
      for (const [method, ...params] of [["evm_mine"], ["evm_increaseTime", 3_600]]) {
        const answer = await post("/chain", { jsonrpc: "2.0", id: 9, method, params });
        expect(answer).toMatchObject([503, { id: 9, error: { code: -32603 } }]);
      }
      expect(await stateNow()).toEqual(before);
      expect((await fetch(`${url}/api/markets`)).status).toBe(200);
      const later = await resume();
      expect(before).toMatchObject({ hash: later.exchange.hash, sequence: later.exchange.sequence });
    },
  );

  it("answers 503 to everything if the journal cannot be read either", async () => {
    const { disk, url, post } = await serving("process");
    let isFailing = false;
    disk.before = ({ kind }) => {
      isFailing ||= kind === "write";
      if (isFailing) throw new Error(`EIO: i/o error, ${kind}`);
    };
    const error =
      "the journal cannot be written: EIO: i/o error, write; nor can the journal be read: EIO: i/o error, read";
    const hint = "no request is answered any more: restart";
    const refused = [503, { error, code: "UNAVAILABLE", hint }];
    expect(await post("/sim/markets", { question: "Will it rain?" })).toMatchObject(refused);
    const read = await fetch(`${url}/api/markets`);
    expect([read.status, await read.json()]).toMatchObject(refused);
  });
});

it("a report of a journal that cannot be opened is refused with 503, because that is no defect of the program", async () => {
  // Reports read the disk of this machine, on which this directory does not exist.
  const config = persistedConfig({ logLevel: "silent" });
  const { opened } = await openNew(config);
  const http = new HttpServer(new ExchangeSite(serviceOf(config, opened)));
  const port = await http.listen({ host: "127.0.0.1", port: 0 });
  const answer = await fetch(`http://127.0.0.1:${port}/sim/report`);
  await http.close();
  const error = expect.stringMatching(`^${FOLDER} cannot be used: ENOENT: .*${JOURNAL}`);
  expect([answer.status, await answer.json()]).toMatchObject([503, { code: "UNAVAILABLE", error }]);
});

it("a journal that cannot be written prevents writing a later state", async () => {
  const { disk, opened, exchange, resume } = await openNew();
  takeSteps(opened, 3);
  flush(opened);
  for (let count = 0; count < 10_000; count += 1) {
    exchange.submit({ kind: "deriveCredentials", address: addressOf("alice") });
    if (count === 500) flush(opened);
  }
  fill(disk);
  expect(() => flush(opened)).toThrow(PersistenceError);
  disk.before = () => {};
  flush(opened);
  await endOfTurn();
  await opened.close();
  expect(disk.names(FOLDER)).toEqual(["journal.ndjson"]);
  expect((await resume()).exchange.hash).toBe(exchange.hash);
});

it.each([
  ["first", 100],
  ["last", -10],
])("a journal that a crash tore in its %s line is saved, and opening says so", async (_which, end) => {
  const { disk, opened } = await openNew();
  flush(opened);
  const torn = Buffer.from(disk.image.get(JOURNAL) ?? []).subarray(0, end);
  const length = torn.length - torn.lastIndexOf("\n") - 1;
  const after = new SimulatedDisk(new Map([[JOURNAL, torn]]));
  const warnings: string[] = [];
  await openOn(after, {}, warnings);
  const saved = `${FOLDER}/journal.torn-1`;
  expect(warnings).toEqual([`a crash tore the end of the journal: ${length} bytes moved to ${saved}`]);
  expect(after.image.get(saved)).toHaveLength(length);
});

it.each([
  ["remove", "lock", "could not be unlocked"],
  ["rename", "db.json", "the state could not be written"],
])(
  "a directory in which nothing can be changed any more is closed with a warning if %s fails, and leaves no draft",
  async (kind, name, warning) => {
    const { disk, opened, warnings, resume } = await openNew();
    disk.before = (call) => {
      if (call.kind !== kind || !call.path.startsWith(`${FOLDER}/${name}`)) return;
      throw Object.assign(new Error("EROFS: no"), { code: "EROFS", syscall: kind });
    };
    await opened.close();
    expect(warnings).toEqual([expect.stringMatching(`^.*${warning}.*: EROFS: no$`)]);
    expect(disk.names(FOLDER)).toEqual(
      name === "lock" ? ["db.json", "journal.ndjson", "lock"] : ["journal.ndjson"],
    );
    await (await resume()).close();
  },
);

it("the .gitignore of a data directory is written once, and its owner may change it", () => {
  const path = "/.clobsim/.gitignore";
  const disk = new SimulatedDisk(new Map([[path, Buffer.from("mine\n")]]));
  ignoreInGit(disk, "/.clobsim");
  expect(Buffer.from(disk.image.get(path) ?? []).toString()).toBe("mine\n");
});

describe("a full disk", () => {
  it("leaves nothing in a data directory that cannot be locked", async () => {
    const disk = filled();
    await expect(openOn(disk)).rejects.toThrow(FULL.message);
    expect(disk.names(FOLDER)).toEqual([]);
  });

  it("leaves no empty .gitignore, which would ignore nothing", () => {
    const disk = filled();
    disk.makeFolder("/.clobsim");
    expect(() => ignoreInGit(disk, "/.clobsim")).toThrow(FULL.message);
    expect(disk.names("/.clobsim")).toEqual([]);
    disk.before = () => {};
    ignoreInGit(disk, "/.clobsim");
    expect(Buffer.from(disk.image.get("/.clobsim/.gitignore") ?? []).toString()).toBe("*\n");
  });

  it("leaves nothing of a repaired journal, so that the repair can be tried again", async () => {
    const disk = new SimulatedDisk();
    await (await openOn(disk)).close();
    const full = filled(disk.image);
    const place = openCandidate(full, FOLDER);
    const copy = (): void => copyIntact(full, place, place.file.size, "/new");
    expect(copy).toThrow(FULL.message);
    expect(full.names("/new")).toEqual([]);
    full.before = () => {};
    copy();
    expect(full.names("/new")).toEqual(["journal.ndjson"]);
  });
});

describe.each([
  ["removed", () => true, "removed"],
  ["unlocked by hand", (path: string) => path.endsWith("/lock"), "unreadable"],
])("a data directory that is %s while it is in use", (_what, isRemoved, overwritten) => {
  const remove = (disk: SimulatedDisk): void => {
    for (const path of disk.image.keys()) if (isRemoved(path)) disk.remove(path);
  };

  it.each(["at once", "a tenth of a second later"])(
    "is left to the exchange that opens it next: closed %s",
    async (when) => {
      const { disk, wall, opened: first } = await openTrading();
      remove(disk);
      const second = await openOn(disk);
      takeSteps(second, 9);
      flush(second);
      const before = disk.image;
      if (when !== "at once") {
        wall.now += 100;
        first.exchange.submit(eventCommand("lost"));
        expect(() => flush(first)).toThrow("was removed or replaced");
        expect(() => first.exchange.submit(eventCommand("lost"))).toThrow(PersistenceError);
      }
      await first.close();
      expect(first.folder?.broken).toMatchObject({ reason: "removed" });
      expect(disk.image).toEqual(before);
      await second.close();
      const third = await openOn(disk);
      expect(third.exchange.hash).toBe(second.exchange.hash);
    },
  );

  it("is closed without an error after both have written at the same place", async () => {
    const { disk, opened: first } = await openTrading();
    remove(disk);
    const second = await openOn(disk);
    takeSteps(second, 9);
    flush(second);
    first.exchange.submit(eventCommand("overwrites"));
    flush(first);
    await first.close();
    expect(first.folder?.broken).toMatchObject({ reason: overwritten });
  });

  it("is not made again by the exchange that used it", async () => {
    const { disk, opened } = await openNew();
    remove(disk);
    const before = disk.image;
    await opened.close();
    expect(disk.image).toEqual(before);
  });
});

it.each([
  ["removed", (disk: SimulatedDisk, path: string) => disk.remove(path)],
  [
    "replaced by a copy",
    (disk: SimulatedDisk, path: string) => {
      const copy = disk.open("/copy", "new");
      copy.write(disk.image.get(path) as Uint8Array, 0);
      disk.rename("/copy", path);
    },
  ],
])(
  "nothing more is accepted a tenth of a second after the journal was %s, as it would be lost",
  async (_how, change) => {
    const { disk, wall, opened, exchange } = await openTrading();
    const { hash } = exchange;
    change(disk, JOURNAL);
    wall.now += 100;
    exchange.submit(eventCommand("lost"));
    expect(() => flush(opened)).toThrow(`${JOURNAL} was removed or replaced`);
    expect(exchange.hash).toBe(hash);
    await opened.close();
    expect(disk.names(FOLDER)).not.toContain("lock");
  },
);

describe.each([
  ["all", (size: number) => size],
  ["half", (size: number) => size / 2],
  ["the last byte", () => 1],
])("a journal of which %s was truncated while it was in use", (_what, bytes) => {
  it.each(["a change", "a read", "a change after others"])("stops the exchange at %s", async (what) => {
    const { disk, wall, opened, exchange } = await openTrading();
    const isHole = what === "a change after others";
    if (isHole) {
      wall.now += 100;
      await flush(opened);
    }
    const size = disk.image.get(JOURNAL)?.length ?? 0;
    disk.open(JOURNAL, "write").truncate(size - bytes(size));
    if (isHole) {
      exchange.submit(eventCommand("after a hole"));
      await flush(opened);
    }
    const before = disk.image.get(JOURNAL);
    wall.now += 100;
    if (what !== "a read") exchange.submit(eventCommand("lost"));
    // The exchange cannot be rolled back, so that nothing is read either: already the first refusal says so.
    const message = expect.stringContaining(`${JOURNAL} was truncated`);
    const failure = expect.objectContaining({ reason: "unreadable", message });
    expect(() => flush(opened)).toThrow(failure);
    expect(() => flush(opened)).toThrow(failure);
    await opened.close();
    expect(disk.names(FOLDER)).not.toContain("lock");
    expect(disk.image.get(JOURNAL)).toEqual(before);
  });
});

it.each([
  ["once", "disk", "persisted: check the disk and restart"],
  ["from then on", "unreadable", "no request is answered any more: restart"],
])(
  "a data directory that cannot be read %s stops the exchange as a full disk does",
  async (when, reason, hint) => {
    const { disk, wall, opened, exchange, resume } = await openTrading();
    const { hash } = exchange;
    wall.now += 100;
    exchange.submit(eventCommand("lost"));
    disk.before = ({ kind }) => {
      if (kind !== "read") return;
      if (when === "once") disk.before = () => {};
      throw new Error("EIO: i/o error, read");
    };
    const message = expect.stringContaining("EIO: i/o error, read");
    expect(() => flush(opened)).toThrow(expect.objectContaining({ reason, message }));
    expect(opened.persistence.broken?.hint).toMatch(new RegExp(`${hint}$`));
    if (when === "once") expect(exchange.hash).toBe(hash);
    await opened.close();
    await (await resume()).close();
  },
);

/** Opens a new exchange in which an order, `buy`, rests and is persisted. */
async function openTrading(config: Partial<Config> = {}) {
  const found = await openNew(config);
  const exchange = new TestExchange(found.exchange);
  exchange.market();
  exchange.fund("alice", { usdc: 1_000 });
  const buy = exchange.command("alice BUY 10 YES @ 0.5");
  exchange.mustSubmit(buy);
  await flush(found.opened);
  return { ...found, buy };
}

/** Makes the next order that rests throw while it is applied. */
function plant({ exchange }: OpenedExchange): void {
  exchange.state.pool.take = () => {
    throw new Error("planted");
  };
}

describe.each(["process", "power"] as const)(
  "a command that throws while it is applied (%s)",
  (durability) => {
    it("leaves the acknowledged state in memory and on the disk, and no command is accepted after it", async () => {
      const { opened, exchange, resume, buy } = await openTrading({ durability });
      const { sequence } = exchange;
      const hash = stateHashes(exchange);
      plant(opened);
      expect(() => exchange.submit(buy)).toThrow("planted");
      expect([stateHashes(exchange), exchange.sequence]).toEqual([hash, sequence]);
      expect(() => exchange.submit(buy)).toThrow(PersistenceError);
      expect(opened.folder?.broken?.reason).toBe("defect");
      expect(opened.clock.mode).toBe("frozen");
      const again = await resume();
      expect([stateHashes(again.exchange), again.exchange.sequence]).toEqual([hash, sequence]);
      expect(again.exchange.submit(buy).ok).toBe(true);
      await again.close();
    });

    it("rolls back commands accepted before it in the same request, which were not acknowledged", async () => {
      const { opened, exchange, buy } = await openTrading({ durability });
      const hash = stateHashes(exchange);
      exchange.submit({ kind: "cancelAllOrders", address: addressOf("alice") });
      plant(opened);
      expect(() => exchange.submit(buy)).toThrow("planted");
      expect(stateHashes(exchange)).toBe(hash);
      exchange.setTime(millis(exchange.now + 1));
    });
  },
);
