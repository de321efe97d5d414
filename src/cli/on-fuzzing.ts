// What runs campaigns of clobsim fuzz and reads what they have found, loaded together when it is called.
export { runCampaign } from "./fuzz-campaign.ts";
export { mergeFound, showFound } from "./fuzz-results.ts";
