// What runs campaigns of clobsim fuzz and reads what they have found, loaded together when it is called.
export { Campaign, CanaryNotFound } from "../fuzz/campaign/campaign.ts";
export {
  DEFAULT_COMMANDS,
  findResults,
  mergeResults,
  ResultsFolder,
  readResults,
  resultsName,
  resultsText,
  saveWhole,
} from "../fuzz/campaign/results.ts";
export { rangeText, readRange, seriesOf, shardText, WHOLE } from "../fuzz/campaign/seeds.ts";
export { campaignLines, FuzzProgress, mergedText, tableLines } from "./fuzz-output.ts";
