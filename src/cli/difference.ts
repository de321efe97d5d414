import { eventHash } from "../engine/event-hash.ts";
import { hex8 } from "../engine/hex8.ts";
import type { Redone, ReplayDiffers } from "../engine/replayer.ts";
import { visible } from "../scenario/report/text.ts";

/** Where a history first comes out otherwise, with both outcomes side by side. */
export function differenceText({ line, command, redone, message }: ReplayDiffers): string {
  const now = nowOf(redone);
  const lines = [
    message,
    `  command   ${JSON.stringify(command)}`,
    ...sideBySide([
      ["", "recorded", "now"],
      ["outcome", "accepted", now[0]],
      ["events", hex8(line.r), now[1]],
    ]),
  ];
  if (!(redone instanceof Error) && redone.ok)
    lines.push(...redone.events.map((event) => `            ${JSON.stringify(event)}`));
  return lines.join("\n");
}

/** What came of a command now, and the hash of what it caused. */
function nowOf(redone: Redone): [outcome: string, events: string] {
  if (redone instanceof Error) return [`fails: ${visible(redone.message)}`, "none"];
  return redone.ok
    ? ["accepted", hex8(eventHash(redone.events))]
    : [`refused, ${redone.refusal.code}`, "none"];
}

/** Rows of a label, what was recorded, and what it is now. */
export function sideBySide(rows: readonly (readonly [string, string, string])[]): string[] {
  const label = Math.max(...rows.map(([text]) => text.length));
  const recorded = Math.max(...rows.map(([, text]) => text.length));
  return rows.map(([name, then, now]) =>
    `  ${name.padEnd(label)}  ${then.padEnd(recorded)}  ${now}`.trimEnd(),
  );
}
