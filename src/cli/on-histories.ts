// What the commands on journals and reports work with, loaded together when one of them is called.

export { readStateFile } from "../engine/state-file.ts";
export { examine } from "../history/examination.ts";
export { isJournal } from "../history/journal-source.ts";
export { Mentions } from "../history/mentions.ts";
export { RefusedAgain } from "../history/refused-again.ts";
export { reportBytes, reportName } from "../history/report.ts";
export { copyWhole, salvageOf } from "../history/salvage.ts";
export { standingOf } from "../history/standing.ts";
export { Touched } from "../history/touched.ts";
export { Walk, wholeHistory } from "../history/walk.ts";
export { OrderLife, standingText } from "./inspect-text.ts";
export { endedWith, endingOf, journalLine } from "./journal-text.ts";
