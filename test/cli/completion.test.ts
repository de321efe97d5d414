import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { SHELLS, type Shell } from "../../src/cli/commands.ts";
import { completions } from "../../src/cli/completion.ts";
import { temporaryFolder } from "../support/folder.ts";
import { rowsOf } from "../support/table.ts";
import { run } from "./tools.ts";

const runFile = promisify(execFile);
const PROGRAM = fileURLToPath(new URL("../../bin/clobsim.js", import.meta.url));

/** A folder with a file, and with the program for a shell to find. */
const folder = temporaryFolder();
const bin = join(folder, "bin");
mkdirSync(bin);
writeFileSync(join(bin, "clobsim"), `#!/bin/sh\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`);
chmodSync(join(bin, "clobsim"), 0o755);
writeFileSync(join(folder, "rules.yaml"), "");

const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}`, HOME: folder };

/** Scripts that load the completion script of the program, and complete a line. */
const COMPLETE: Readonly<Record<Shell, (words: readonly string[]) => string>> = {
  bash: (words) => `eval "$(clobsim completion bash)"
COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}
_clobsim; printf '%s\\n' "\${COMPREPLY[@]}"`,
  // Completion in zsh works only at a prompt, so the script prints what it would be given.
  zsh: (words) => `compdef() { :; }; _describe() { print -l -- "\${(P@)2}"; }
compset() { PREFIX=\${PREFIX#*=}; }; _files() { local -a f=($PREFIX*(.N)); print -l $f; (( $#f )); }
eval "$(clobsim completion zsh)"
words=(${words.map((word) => `'${word}'`).join(" ")}); CURRENT=${words.length}; PREFIX=$words[-1]; _clobsim`,
  fish: (words) => `clobsim completion fish | source; complete -C '${words.join(" ")}'`,
};

async function isInstalled(shell: Shell): Promise<boolean> {
  return runFile(shell, ["--version"]).then(
    () => true,
    () => false,
  );
}

const installed = new Map(
  await Promise.all(SHELLS.map(async (shell) => [shell, await isInstalled(shell)] as const)),
);
for (const [shell, found] of installed) if (!found) console.warn(`skipped: ${shell} is not installed`);

describe("completion", () => {
  it.each([...installed].flatMap(([shell, found]) => (found ? [shell] : [])))(
    "in %s offers commands, options, values and files",
    async (shell) => {
      const offered = async (...words: readonly string[]): Promise<string[]> => {
        const { stdout } = await runFile(shell, ["-c", COMPLETE[shell](["clobsim", ...words])], {
          cwd: folder,
          env,
        });
        return stdout
          .split("\n")
          .flatMap((line) => line.split(/\t|:/)[0] || [])
          .sort();
      };
      expect(await offered("re")).toEqual(["record", "repair", "replay", "report"]);
      expect(await offered("world", "--m")).toEqual(["--markets"]);
      expect(await offered("run", "--via", "")).toEqual(["http", "process"]);
      const value = shell === "bash" ? ["--via", "=", "h"] : ["--via=h"];
      expect(await offered("run", ...value)).toEqual([shell === "bash" ? "http" : "--via=http"]);
      // Bash completes file names by itself if the function finds nothing.
      expect(await offered("run", "")).toEqual(
        shell === "bash" ? [] : expect.arrayContaining(["rules.yaml"]),
      );
      const file = { bash: [], zsh: ["rules.yaml"], fish: ["--world=rules.yaml"] }[shell];
      expect(await offered("serve", ...(shell === "bash" ? ["--world", "=", "ru"] : ["--world=ru"]))).toEqual(
        file,
      );
    },
  );

  it.each(installed.get("zsh") ? ["zsh"] : [])("starts the completion system of %s", async (zsh) => {
    const script = 'eval "$(clobsim completion zsh)"; print -l $_comps[clobsim]';
    const { stdout, stderr } = await runFile(zsh, ["-f", "-c", script], { cwd: folder, env });
    expect({ stdout, stderr }).toEqual({ stdout: "_clobsim\n", stderr: "" });
  });

  // Bash splits words at the equals sign.
  it.each(
    rowsOf(`
    se                          | serve
    --v                         | --version
    doctor --                   | --help
    world --seed 7 --se         | .
    world --seed 7 --o          | --out
    run --reporter json --repor | --reporter --report
    run --bail --rep            | --repeat --reporter --report
    run x.yaml --via h          | http
    run --bail x                | .
    fuzz s                      | show
    fuzz --out fu               | .
    completion                  | bash zsh fish
    serve --clock               | frozen real 60x
    serve --world               | tiny small
    serve --world wo            | .
    run --reporter ju           | junit
    flow --format               | csv ndjson
    flow --profile b            | balanced bursts
    flow --tick-size 0.0        | 0.01 0.005 0.0025 0.001 0.0001
    run --reporter=j            | --reporter=json --reporter=junit
    run --bail=                 | .
    run --via=http --vi         | .
    run --reporter = ju         | junit
    run --via =                 | process http
    run --via = http --vi       | .
    fuzz merge s                | .
    fuzz --seeds 0..5 m         | merge
    fuzz --seeds=0..5 m         | merge
    banana --                   | .
    `),
  )("completes %j with %j", (line, expected) => {
    const isOpen = / (?:completion|--format|--clock|--world)$/.test(` ${line}`);
    const typed = [...line.split(" "), ...(isOpen ? [""] : [])];
    expect(completions(["bash", "clobsim", ...typed])).toBe(
      expected
        .split(" ")
        .map((word) => (word === "" || word === "." ? "" : `${word}\n`))
        .join(""),
    );
  });

  it("describes each word in zsh and fish", () => {
    expect(completions(["fish", "clobsim", "doc"])).toMatch(/^doctor\tMeasure /);
    expect(completions(["zsh", "clobsim", "doc"])).toMatch(/^doctor:Measure /);
  });

  it.each([
    [[], { SHELL: "/usr/bin/fish" }, "completion fish"],
    [["zsh"], { SHELL: "/usr/bin/fish" }, "completion zsh"],
    [[], {}, "completion bash"],
  ])(
    "with arguments %j and environment %j prints the script of a shell",
    async (words, environment, says) => {
      const { code, stdout } = await run("completion", words, {}, environment);
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining(says) });
    },
  );

  it("says which shells there are if $SHELL is another", async () => {
    const { code, stderr } = await run("completion", [], {}, { SHELL: "/bin/dash" });
    const sentence = 'clobsim: $SHELL expects bash, zsh or fish, found "dash", did you mean bash?\n';
    expect({ code, stderr }).toEqual({ code: 2, stderr: sentence });
  });
});
