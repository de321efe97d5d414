import type { Contender } from "./contender.ts";
import type { Flow } from "./flow.ts";
import type { Subject } from "./rounds.ts";

/**
 * A contender's replay of a flow, to be measured. Each run checks the trades it made.
 * @throws Error from a run that made other trades than the flow's.
 */
export function replaySubject(contender: Contender, flow: Flow): Subject {
  const { expected } = flow;
  // A book stays alive from one run to the next, as in an exchange: V8 throws compiled code away with the last object of a shape.
  let replay = contender.prepare(flow);
  return {
    name: contender.name,
    prepare() {
      replay = contender.prepare(flow);
      return () => {
        const made = replay();
        if (
          made.hash !== expected.hash ||
          made.trades !== expected.trades ||
          made.volume !== expected.volume
        ) {
          throw new Error(
            `${contender.name} made ${made.trades} trades of volume ${made.volume} (hash ${made.hash}), ` +
              `the flow has ${expected.trades} of ${expected.volume} (hash ${expected.hash})`,
          );
        }
      };
    },
  };
}
