/** How often subjects are measured. */
export interface Rounds {
  readonly rounds: number;
  /** Rounds before these, thrown away: compilers settle in them. */
  readonly warmUps: number;
}

/**
 * Whose turn it is, and whether it counts. Subjects take turns within every round, and the one that begins changes, so
 * that a machine that slows down slows all of them.
 */
export function* turns(
  subjects: number,
  { rounds, warmUps }: Rounds,
): Generator<{ readonly index: number; readonly counts: boolean }> {
  for (let round = 0; round < warmUps + rounds; round++) {
    for (let turn = 0; turn < subjects; turn++) {
      yield { index: (turn + round) % subjects, counts: round >= warmUps };
    }
  }
}

/** The figures that each subject answers, one a round, one subject after the other. */
export async function takeTurns(
  subjects: readonly (() => Promise<number>)[],
  plan: Rounds,
): Promise<number[][]> {
  const samples: number[][] = subjects.map(() => []);
  for (const { index, counts } of turns(subjects.length, plan)) {
    const sample = await (subjects[index] as () => Promise<number>)();
    if (counts) (samples[index] as number[]).push(sample);
  }
  return samples;
}
