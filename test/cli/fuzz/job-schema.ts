/** A JSON schema. */
type Schema = Readonly<Record<string, unknown>>;

const object = (properties: Readonly<Record<string, Schema>>, required: readonly string[]): Schema => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});
const list = (items: Schema): Schema => ({ type: "array", items, minItems: 1 });
const oneOf = (...words: readonly string[]): Schema => ({ enum: words });

const TEXT: Schema = { type: "string", minLength: 1 };
const COUNT: Schema = { type: "integer", minimum: 0 };
/** RFC 1123, as the API server checks names of objects and containers. */
const NAME: Schema = { type: "string", pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", maxLength: 63 };
const QUANTITIES: Schema = {
  type: "object",
  propertyNames: { enum: ["cpu", "memory", "ephemeral-storage"] },
  additionalProperties: { type: "string", pattern: "^[0-9]+(\\.[0-9]+)?(m|[kMGT]i?)?$" },
};

const CONTAINER = object(
  {
    name: NAME,
    image: TEXT,
    command: list(TEXT),
    args: list(TEXT),
    env: list(object({ name: TEXT, value: { type: "string" } }, ["name", "value"])),
    resources: object({ requests: QUANTITIES, limits: QUANTITIES }, []),
    volumeMounts: list(
      object({ name: NAME, mountPath: { type: "string", pattern: "^/" }, readOnly: { type: "boolean" } }, [
        "name",
        "mountPath",
      ]),
    ),
  },
  ["name", "image"],
);

const VOLUME = object(
  {
    name: NAME,
    persistentVolumeClaim: object({ claimName: NAME, readOnly: { type: "boolean" } }, ["claimName"]),
    emptyDir: object({}, []),
  },
  ["name"],
);

const POD_SPEC = object(
  {
    // Of a Job, Always is refused.
    restartPolicy: oneOf("Never", "OnFailure"),
    terminationGracePeriodSeconds: COUNT,
    containers: list(CONTAINER),
    volumes: list(VOLUME),
  },
  ["restartPolicy", "containers"],
);

/** One of the two conditions. */
const FAILURE_RULE: Schema = {
  ...object(
    {
      action: oneOf("FailJob", "FailIndex", "Ignore", "Count"),
      onExitCodes: object(
        {
          containerName: NAME,
          operator: oneOf("In", "NotIn"),
          values: {
            ...list({ type: "integer", minimum: 1, maximum: 255 }),
            maxItems: 255,
            uniqueItems: true,
          },
        },
        ["operator", "values"],
      ),
      onPodConditions: list(object({ type: TEXT, status: oneOf("True", "False", "Unknown") }, ["type"])),
    },
    ["action"],
  ),
  oneOf: [{ required: ["onExitCodes"] }, { required: ["onPodConditions"] }],
};

/** What holds where a field stands in the spec. */
const where = (field: Schema, then: Schema): Schema => ({ if: field, then });
const has = (name: string): Schema => ({ required: [name] });
const INDEXED: Schema = {
  required: ["completionMode", "completions"],
  properties: { completionMode: { const: "Indexed" } },
};
const NEVER_RESTARTED: Schema = {
  properties: { template: { properties: { spec: { properties: { restartPolicy: { const: "Never" } } } } } },
};
const FAILS_INDEX: Schema = {
  required: ["podFailurePolicy"],
  properties: {
    podFailurePolicy: {
      properties: { rules: { contains: { properties: { action: { const: "FailIndex" } } } } },
    },
  },
};

/**
 * The part of batch/v1 Job, Kubernetes 1.29 to 1.33, that a campaign uses, written by hand from the reference of the API: types of
 * fields and what the API server demands of them together. Fields that are not here may be right all the same.
 */
export const JOB_SCHEMA: Schema = object(
  {
    apiVersion: { const: "batch/v1" },
    kind: { const: "Job" },
    metadata: object({ name: NAME, labels: { type: "object" } }, ["name"]),
    spec: {
      ...object(
        {
          completions: { type: "integer", minimum: 1 },
          parallelism: COUNT,
          completionMode: oneOf("Indexed", "NonIndexed"),
          backoffLimit: COUNT,
          backoffLimitPerIndex: COUNT,
          maxFailedIndexes: COUNT,
          activeDeadlineSeconds: { type: "integer", minimum: 1 },
          ttlSecondsAfterFinished: COUNT,
          podFailurePolicy: object({ rules: { ...list(FAILURE_RULE), maxItems: 20 } }, ["rules"]),
          template: object({ metadata: { type: "object" }, spec: POD_SPEC }, ["spec"]),
        },
        ["template"],
      ),
      allOf: [
        where(has("backoffLimitPerIndex"), { allOf: [INDEXED, NEVER_RESTARTED] }),
        where(has("maxFailedIndexes"), has("backoffLimitPerIndex")),
        where(has("podFailurePolicy"), NEVER_RESTARTED),
        where(FAILS_INDEX, has("backoffLimitPerIndex")),
      ],
    },
  },
  ["apiVersion", "kind", "metadata", "spec"],
);
