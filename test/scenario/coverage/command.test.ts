import { join } from "node:path";
import { it } from "vitest";
import { Shell } from "../../cli/shell.ts";
import { TestFolder } from "../../support/folder.ts";
import { ENDING, FAILING, PARTS, UNSIGNED } from "./files.ts";

const folder = new TestFolder();

it("clobsim coverage prints what its page shows", async () => {
  folder.write("parts.yaml", PARTS);
  folder.write("ending.yaml", ENDING);
  folder.write("failing.yaml", FAILING);
  folder.write("unsigned.yaml", UNSIGNED);
  folder.write("wrong.yaml", "scenario: nothing happens\n");
  await new Shell(folder).expectPage(join(import.meta.dirname, "command.txt"));
});
