import * as z from "zod";

/** The schemas that the OpenAPI document names under `components`. */
export const registry = z.registry<{ id: string; description?: string }>();

/** Puts a schema into the document under a name. */
export function named<T extends z.ZodType>(id: string, schema: T, description?: string): T {
  registry.add(schema, description === undefined ? { id } : { id, description });
  return schema;
}

/** An object with exactly these properties. */
export const exactly = <Shape extends z.core.$ZodShape>(id: string, shape: Shape, description?: string) =>
  named(id, z.strictObject(shape), description);
