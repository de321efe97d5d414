import { canonicalLines } from "../canonical.ts";
import type { Block, Building, Chain } from "../chain/chain.ts";
import type { State } from "../state.ts";

/**
 * A state as the fields of a JSON object, a line at a time, without the braces around them: the canonical document,
 * then what it names by a digest alone. The last line has no comma. All else that a state knows (books and their
 * queues, lists, price histories, what leads to records, settlements that are nothing but mined or pending) follows
 * from these, and `parseDocument` works it out.
 */
export function* documentLines(state: State): Generator<string> {
  let previous = "{";
  for (const line of canonicalLines(state)) {
    if (previous !== "{") yield line === "}" ? `${previous},` : previous;
    previous = line;
  }
  const { chain } = state;
  const { asked, building } = chain;
  yield `"unfinished":{"asked":${asked},"building":${building === null ? "null" : buildingText(chain, building)}},`;
  yield '"blocks":[';
  const last = chain.blocks.size;
  for (const block of chain.blocks) yield `${blockLine(chain, block)}${block.serial < last ? "," : ""}`;
  yield "]";
}

// Of blocks there may be as many as there are trades: written out, as orders and trades are.

const blockLine = (chain: Chain, block: Block): string =>
  `{"serial":${block.serial},"height":${block.height},"at":${block.at},"baseFee":${block.baseFee},` +
  `"mined":${runsText(chain, block.first, block.count)},"logs":${block.logs},"gas":${block.gas},` +
  `"digest":[${block.digestA},${block.digestB},${block.digestC},${block.digestD}]}`;

const buildingText = (chain: Chain, building: Building): string =>
  `{"height":${building.height},"at":${building.at},"baseFee":${building.baseFee},"cursor":${building.cursor},` +
  `"mined":${runsText(chain, building.first, chain.mined.size - building.first)},"logs":${building.logs},` +
  `"gas":${building.gas},"isFilled":${building.isFilled}}`;

/** The transactions of a block, in order, as runs of numbers that follow one another: `[[first, last], ...]`. */
function runsText({ mined }: Chain, first: number, count: number): string {
  const runs: string[] = [];
  let begin = 0;
  let end = 0;
  for (let index = first + 1; index <= first + count; index += 1) {
    const number = mined.get(index);
    if (begin !== 0 && number === end + 1) {
      end = number;
      continue;
    }
    if (begin !== 0) runs.push(`[${begin},${end}]`);
    begin = number;
    end = number;
  }
  if (begin !== 0) runs.push(`[${begin},${end}]`);
  return `[${runs.join(",")}]`;
}
