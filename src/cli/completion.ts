import { basename } from "node:path";
import { choice, readValue } from "../setting.ts";
import {
  type CommandName,
  optionsOf,
  type Run,
  SHELLS,
  type Shell,
  SUBCOMMANDS,
  type Subcommand,
} from "./commands.ts";
import { EXIT } from "./process.ts";

/** A completion, with its description. */
type Candidate = readonly [word: string, help: string];

/** Command with which a shell requests completions: `clobsim --complete SHELL clobsim run --v`. */
const ASK = "clobsim --complete";

/** Completion script of each shell. Without completions of clobsim, the shells complete file names. */
const SCRIPT: Readonly<Record<Shell, string>> = {
  bash: `# clobsim completion bash >> ~/.bashrc
_clobsim() {
  local words
  words=$(${ASK} bash "\${COMP_WORDS[@]:0:COMP_CWORD+1}" 2>/dev/null)
  COMPREPLY=($words)
}
complete -o bashdefault -o default -F _clobsim clobsim
`,
  zsh: `#compdef clobsim
# clobsim completion zsh >> ~/.zshrc below compinit, or > a file _clobsim in a folder of $fpath
_clobsim() {
  local -a found
  found=("\${(@f)$(${ASK} zsh "\${(@)words[1,CURRENT]}" 2>/dev/null)}")
  if [[ -n $found[1] ]]; then
    _describe clobsim found
  else
    _files || { compset -P '*=' && _files }
  fi
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _clobsim "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
  compdef _clobsim clobsim
fi
`,
  fish: `# clobsim completion fish > ~/.config/fish/completions/clobsim.fish
function __clobsim
  ${ASK} fish (commandline -opc) (commandline -ct) 2>/dev/null
end
complete -c clobsim -f -a '(__clobsim)'
complete -c clobsim -n 'not count (__clobsim) >/dev/null' -F
`,
};

/** `clobsim completion`: prints the script of a shell, by default of $SHELL, or bash. @throws ConfigError for an unknown shell */
export const completion: Run<"completion"> = async (_values, [given], { environment }) => {
  const shell = given ?? basename(environment.SHELL || "bash");
  process.stdout.write(
    SCRIPT[readValue(given === undefined ? "$SHELL" : "completion", shell, choice(...SHELLS))],
  );
  return EXIT.ok;
};

/** Returns the completions of the last word, one per line in the format of the shell. */
export function completions([shell = "", , ...words]: readonly string[]): string {
  const typed = shell === "bash" ? withoutEqualsSigns(words) : words;
  const current = typed.at(-1) ?? "";
  const found = candidates(typed.slice(0, -1), current).filter(([word]) => word.startsWith(current));
  const line = ([word, help]: Candidate): string => {
    if (shell === "bash" || help === "") return word;
    return shell === "zsh" ? `${word}:${help}` : `${word}\t${help}`;
  };
  return found.map((candidate) => `${line(candidate)}\n`).join("");
}

/** Bash splits `--flag=value` into three words, and completes the last. Returns it as if typed with a blank. */
const withoutEqualsSigns = (words: readonly string[]): readonly string[] =>
  words.flatMap((word, index) => {
    if (word !== "=") return word;
    return index === words.length - 1 ? "" : [];
  });

function candidates([name, ...before]: readonly string[], current: string): readonly Candidate[] {
  if (name === undefined) {
    const commands = Object.entries(SUBCOMMANDS).map(([word, { summary }]): Candidate => [word, summary]);
    return current.startsWith("-") ? ALWAYS : commands;
  }
  if (!Object.hasOwn(SUBCOMMANDS, name)) return [];
  const options = optionsOf(name as CommandName);
  const { args }: Subcommand = SUBCOMMANDS[name as CommandName];
  const valuesOf = (flag: string | undefined): readonly string[] | undefined => {
    const asked = options.find(({ word, toggle }) => toggle === undefined && `--${word}` === flag);
    return asked === undefined ? undefined : (asked.words ?? asked.offers ?? []);
  };
  const [, flag] = /^(--[^=]+)=/.exec(current) ?? [];
  if (flag !== undefined) return (valuesOf(flag) ?? []).map((value) => [`${flag}=${value}`, ""]);
  const values = valuesOf(before.at(-1));
  if (values !== undefined) return values.map((word) => [word, ""]);
  if (!current.startsWith("-") && args !== undefined) {
    const isFirst = before.every((word, index) => word.startsWith("-") || valuesOf(before[index - 1]));
    return isFirst ? (args.completed ?? []).map((word) => [word, ""]) : [];
  }
  const given = new Set(before.map((word) => word.replace(/=.*/s, "")));
  const left = options.filter(({ word, isRepeatable }) => isRepeatable || !given.has(`--${word}`));
  return [...left.map(({ word, help }): Candidate => [`--${word}`, help]), ...ALWAYS.slice(0, 1)];
}

const ALWAYS: readonly Candidate[] = [
  ["--help", "Print this help"],
  ["--version", "Print the version"],
];
