// What runs scenarios on a deployment.
export { TargetFileError } from "../scenario/venue/target-file.ts";
export { openTargets } from "../scenario/venue/target-venue.ts";
