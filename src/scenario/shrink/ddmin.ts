/** Told which of some parts are tried; answers those that are kept, which may be fewer, or null where that is not enough. */
export type Attempt<T> = (kept: readonly T[]) => Promise<readonly T[] | null>;

/**
 * Delta debugging (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input"): leaves out halves, then
 * quarters, and so on down to single parts, as long as `attempt` says that what is kept is enough. Only complements are
 * tried: what remains goes on behind the part left out, so that a long list of which little matters costs a few attempts
 * for each part that does. In the end no single part can be left out, unless `isOver` ended it before. Parts at the end
 * are tried first, for the later ones depend on those before.
 */
export async function ddmin<T>(
  parts: readonly T[],
  attempt: Attempt<T>,
  isOver: () => boolean = () => false,
): Promise<readonly T[]> {
  let kept = parts;
  let size = kept.length;
  while (size >= 1 && kept.length > 0 && !isOver()) {
    const before = kept.length;
    kept = await withoutChunks(kept, size, attempt, isOver);
    // One by one until nothing more can go: a part may be needed only for one that went after it.
    if (size > 1) size = Math.ceil(size / 2);
    else if (kept.length === before) break;
  }
  return kept;
}

/** Leaves out what can be, so many parts at a time, from the end to the beginning. */
async function withoutChunks<T>(
  parts: readonly T[],
  size: number,
  attempt: Attempt<T>,
  isOver: () => boolean,
): Promise<readonly T[]> {
  let kept = parts;
  let end = kept.length;
  while (end > 0 && !isOver()) {
    const start = Math.max(0, end - size);
    const smaller = await attempt([...kept.slice(0, start), ...kept.slice(end)]);
    if (smaller !== null) kept = smaller;
    end = Math.min(start, kept.length);
  }
  return kept;
}
