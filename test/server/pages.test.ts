import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Config } from "../../src/config.ts";
import { useApi } from "../support/http.ts";
import { BAD_INPUTS } from "./bad-inputs.ts";
import { expectPage } from "./pages.ts";

const FOLDER = join(import.meta.dirname, "pages");

/** Settings of the exchange of a page that are not the defaults. */
const CONFIG: Readonly<Record<string, Partial<Config>>> = {
  "chain.txt": { settlement: "manual" },
  "refused-fields.txt": { unknownFields: "refuse" },
  "token.txt": { simToken: "s3cret-token" },
};

describe.each(readdirSync(FOLDER))("%s", (name) => {
  const api = useApi(CONFIG[name]);

  it("shows the replies to its requests", async () => {
    await expectPage(api, join(FOLDER, name));
  });

  it("has the documented code for each bad input that it names", () => {
    for (const section of readFileSync(join(FOLDER, name), "utf8").split(/^##+ /m)) {
      const ids: readonly string[] = section.split("\n", 1)[0]?.match(/\b[A-Z]\d\d\b/g) ?? [];
      for (const { id, expected } of BAD_INPUTS)
        for (const code of expected.code?.match(/[A-Z_]{4,}/g) ?? [])
          if (ids.includes(id)) expect(section, id).toContain(code);
    }
  });
});
