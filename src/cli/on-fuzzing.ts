// What runs campaigns of clobsim fuzz and reads what they have found, loaded together when it is called.
export { Campaign, CanaryNotFound } from "../fuzz/campaign/campaign.ts";
export { findResults } from "../fuzz/campaign/find-results.ts";
export { mergeResults } from "../fuzz/campaign/merge.ts";
export { readResults, resultsText } from "../fuzz/campaign/results.ts";
export { DEFAULT_COMMANDS, ResultsFolder, resultsName, saveWhole } from "../fuzz/campaign/results-folder.ts";
export { rangeText, readRange, seriesOf, shardText, WHOLE } from "../fuzz/campaign/seeds.ts";
export { campaignLines, FuzzProgress, mergedText, tableLines } from "./fuzz-output.ts";
