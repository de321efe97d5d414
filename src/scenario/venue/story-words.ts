interface Queue {
  readonly nowBehind: { readonly orders: number; readonly shares: number | string };
}

/** An order's story as sentences; of one that rests, also how it stands and its place in the queue. */
export function storyWords(
  isLive: boolean,
  story: readonly { readonly what: string }[],
  summary: string,
  queue: Queue | null,
): readonly string[] {
  const lines = story.map(({ what }) => what);
  if (!isLive) return lines;
  return queue === null ? [...lines, summary] : [...lines, summary, placeIn(queue)];
}

function placeIn({ nowBehind: { orders, shares } }: Queue): string {
  if (orders === 0) return "first in the queue at its price";
  return `place ${orders + 1} in the queue at its price, behind ${shares} shares`;
}
