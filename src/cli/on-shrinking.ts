// What shrinks scenarios and histories, loaded together when clobsim shrink is called.
export { shrinkScenario } from "../scenario/shrink/shrink-scenario.ts";
export { venueOpener } from "../scenario/shrink/venue-opener.ts";
export { shrinkReport } from "./shrink-report.ts";
