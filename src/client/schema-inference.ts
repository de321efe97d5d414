/** A schema as Standard Schema shows it (standardschema.dev), which zod's are: the client names no package for it. */
interface Typed {
  readonly "~standard": {
    readonly types?: { readonly input: unknown; readonly output: unknown } | undefined;
  };
}

type Types<Schema extends Typed> = NonNullable<Schema["~standard"]["types"]>;

/** What a schema takes: fields with a default may be left out. */
export type InputOf<Schema extends Typed> = Types<Schema>["input"];

/** What a schema promises. */
export type OutputOf<Schema extends Typed> = Types<Schema>["output"];
