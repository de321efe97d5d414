import { arch, cpus, loadavg, platform, totalmem } from "node:os";

/** Where figures were measured; without it they mean nothing. */
export interface Machine {
  readonly processor: string;
  readonly processors: number;
  readonly memoryGiB: number;
  readonly system: string;
  readonly node: string;
  readonly v8: string;
  /** Processes that wanted to run, on average over the last minute: above 0 before a run, others disturb it. */
  readonly load: number;
}

/** The machine this process runs on. */
export function machine(): Machine {
  const processors = cpus();
  return {
    processor: processors[0]?.model.trim() ?? "unknown",
    processors: processors.length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${arch()}`,
    node: process.version,
    v8: process.versions.v8,
    load: loadavg()[0] as number,
  };
}
