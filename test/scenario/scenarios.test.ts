import { scenarioSuite } from "../../src/vitest.ts";

scenarioSuite("scenarios");
