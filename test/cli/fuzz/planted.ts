import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Ended, type Launched, Launcher } from "../run/launcher.ts";

const RUNNER = readFileSync("test/fuzz/campaign/planted-runner.ts", "utf8");

/** The program with seeds of which it is known which fail and how, and a folder in which it is started. */
export class PlantedFuzzer {
  readonly launcher: Launcher;

  private constructor(launcher: Launcher) {
    this.launcher = launcher;
  }

  /** `canary`: the text of src/fuzz/canary.ts, another one than it has. */
  static async bundled(canary = "export const findsCanary = async () => true;"): Promise<PlantedFuzzer> {
    const replaced = new Map([
      ["src/fuzz/in-process.ts", RUNNER],
      ["src/fuzz/canary.ts", canary],
    ]);
    return new PlantedFuzzer(await Launcher.bundledWith(replaced));
  }

  start(line: string): Launched {
    const words = line.split(" ").filter((word) => word !== "");
    return this.launcher.start([process.execPath, this.launcher.program, "fuzz", ...words]);
  }

  /** Runs `clobsim fuzz` with these words to its end. */
  run(line: string): Promise<Ended> {
    return this.start(line).ended;
  }

  path(...names: readonly string[]): string {
    return join(this.launcher.folder, ...names);
  }

  /** The files below a folder, with their texts. */
  files(folder: string): Readonly<Record<string, string>> {
    const names = readdirSync(this.path(folder)).sort();
    return Object.fromEntries(names.map((name) => [name, this.launcher.read(join(folder, name))]));
  }

  dispose(): void {
    this.launcher.dispose();
  }
}
