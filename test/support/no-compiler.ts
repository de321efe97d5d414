import { vi } from "vitest";

/** Returns what `make` makes where code cannot be compiled, as in a browser with a Content-Security-Policy. */
export async function withoutCompiler<Value>(make: () => Value): Promise<Awaited<Value>> {
  vi.stubGlobal("Function", function forbidden() {
    throw new EvalError("code generation is disabled");
  });
  try {
    return await make();
  } finally {
    vi.unstubAllGlobals();
  }
}
