import { type CallKind, type DiskImage, SimulatedDisk } from "../../support/simulated-disk.ts";

/** A fault of a disk: calls of a kind fail, or write only half. */
export interface DiskFault {
  readonly kind: CallKind;
  readonly how: "ENOSPC" | "EIO" | "short";
  /** Whether every later call of the kind also fails. */
  readonly isPermanent: boolean;
}

/** Returns every fault of some kinds of calls. */
export const faultsOf = (kinds: readonly CallKind[]): readonly DiskFault[] =>
  kinds.flatMap((kind) =>
    (kind === "write" ? (["ENOSPC", "EIO", "short"] as const) : (["EIO"] as const)).flatMap((how) =>
      [false, true].map((isPermanent) => ({ kind, how, isPermanent })),
    ),
  );

/** Makes the n-th call of a fault's kind fail; `hasFailed` is whether it has. */
export class FailingDisk {
  readonly #fault: DiskFault;
  #left: number;
  hasFailed = false;

  constructor(disk: SimulatedDisk, fault: DiskFault, nth: number) {
    this.#fault = fault;
    this.#left = nth;
    disk.before = ({ kind, path }) => {
      if (fault.how === "short" || !this.#isNow(kind, path)) return;
      throw Object.assign(new Error(`${fault.how}: ${kind}`), { code: fault.how, syscall: kind });
    };
    disk.taken = (path, length) => {
      if (fault.how !== "short" || !this.#isNow("write", path)) return length;
      return Math.floor(length / 2);
    };
  }

  #isNow(kind: CallKind, path: string): boolean {
    if (kind !== this.#fault.kind || path.includes("/lock")) return false;
    this.#left -= 1;
    const isNow = this.#left === 0 || (this.#left < 0 && this.#fault.isPermanent);
    this.hasFailed ||= isNow;
    return isNow;
  }
}

/**
 * Tries a fault at the first call, and at every `every`-th after it, until there is no such call. Returns the number of those calls.
 * @throws Error that names the fault and the call
 */
export async function atCalls(
  fault: DiskFault,
  hasFailedAt: (nth: number) => Promise<boolean>,
  every = 1,
): Promise<number> {
  for (let cases = 0; ; cases += 1) {
    const nth = 1 + cases * every;
    const hasFailed = await hasFailedAt(nth).catch((error: Error) => {
      throw new Error(`${JSON.stringify(fault)}, call ${nth}: ${error.stack}`);
    });
    if (!hasFailed) return cases;
  }
}

/** The error of a write to a full disk. */
export const FULL = Object.assign(new Error("ENOSPC: no space left on device, write"), {
  ...{ code: "ENOSPC", syscall: "write" },
});

/** Makes every later write fail. */
export function fill(disk: SimulatedDisk): void {
  disk.before = ({ kind }) => {
    if (kind === "write") throw FULL;
  };
}

/** Returns a full disk. */
export function filled(image: DiskImage = new Map()): SimulatedDisk {
  const disk = new SimulatedDisk(image);
  fill(disk);
  return disk;
}
