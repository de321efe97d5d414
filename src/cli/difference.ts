import { eventHash } from "../store/event-hash.ts";
import { commandOf, hex8 } from "../store/journal-line.ts";
import type { ReplayDiffers } from "../store/replayer.ts";

/** Where a history first comes out otherwise, with both outcomes one below the other. */
export function differenceText({ line, decision, message }: ReplayDiffers): string {
  const found = decision.ok
    ? `accepted, events ${hex8(eventHash(decision.events))}`
    : `refused, ${decision.refusal.code}`;
  const lines = [
    message,
    `  command   ${JSON.stringify(commandOf(line))}`,
    `  recorded  accepted, events ${line.r}`,
    `  now       ${found}`,
  ];
  if (decision.ok) lines.push(...decision.events.map((event) => `            ${JSON.stringify(event)}`));
  return lines.join("\n");
}
