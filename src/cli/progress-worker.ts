import { writeSync } from "node:fs";
import { workerData } from "node:worker_threads";
import { type Drawing, progressText, SHARED } from "./progress.ts";

const { busy, columns, flags, numbers } = workerData as Drawing;
const began = Date.now();
const numberAt = (index: number): number => numbers[index] ?? 0;

function draw(): void {
  const now = Date.now();
  if (Atomics.compareExchange(flags, SHARED.lock, 0, 1) !== 0) return;
  try {
    if (now >= numberAt(SHARED.from)) {
      const counts = { done: numberAt(SHARED.done), total: numberAt(SHARED.total) };
      flags[SHARED.isDrawn] = 1;
      writeSync(2, `\r${progressText(busy, counts, now - began, columns)}\u001b[K`);
    }
  } catch {
    // The terminal is blocked or closed.
  } finally {
    Atomics.store(flags, SHARED.lock, 0);
  }
}

setInterval(draw, 250);
