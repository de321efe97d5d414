// What shrinks scenarios and histories, loaded together when clobsim shrink is called.
export { shrinkScenario } from "../history/shrink/shrink-scenario.ts";
export { venueOpener } from "../history/shrink/trial.ts";
export { shrinkReport } from "./shrink-report.ts";
