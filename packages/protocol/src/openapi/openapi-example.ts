interface JsonSchema {
  readonly [keyword: string]: unknown;
}

type Components = Readonly<Record<string, unknown>>;

const MAX_DEPTH = 6;
/** What a field of this name looks like, if its schema does not say it. */
const byName: Readonly<Record<string, string>> = {
  id: "rec_01k7x9d3q8w5f2m6n4p0r1s7t9",
  deviceId: "dev_01k7x9d3q8w5f2m6n4p0r1s7t9",
  projectId: "prj_01k7x9d3q8w5f2m6n4p0r1s7t9",
  recordingId: "rec_01k7x9d3q8w5f2m6n4p0r1s7t9",
  sessionId: "sess_01k7x9d3q8w5f2m6n4p0r1s7t9",
  requestId: "req_01k7x9d3q8w5f2m6n4p0r1s7t9",
  name: "rover-1",
  deviceName: "rover-1",
  key: "drive-1",
  path: "2026-01-02/drive-1.mcap",
  filename: "drive-1.mcap",
  topic: "/imu",
  link: "https://downlink.internal/data-plane/exports?v=1",
};

/** A value that follows a wire schema: what its `example`, `default` or `enum` says, else something plain. */
export function exampleOf(
  schema: unknown,
  components: Components,
  place: { name?: string; depth?: number } = {},
): unknown {
  const { name = "", depth = 0 } = place;
  const shape = resolve(schema as JsonSchema, components);
  for (const keyword of ["example", "default", "const"]) if (shape[keyword] !== undefined) return shape[keyword];
  if (Array.isArray(shape.enum)) return shape.enum[0];
  const choices = (shape.anyOf ?? shape.oneOf) as JsonSchema[] | undefined;
  if (choices) return exampleOf(choices[0], components, place);
  const type = [shape.type].flat()[0]; // a nullable one names its type first
  if (type === "object") return objectExample(shape, components, depth);
  if (type === "array")
    return depth > MAX_DEPTH ? [] : [exampleOf(shape.items, components, { name, depth: depth + 1 })];
  if (type === "boolean") return true;
  if (type === "integer" || type === "number") return Math.max(Number(shape.minimum ?? 0), 0);
  return type === "string" ? textExample(shape, name) : {};
}

function resolve(schema: JsonSchema, components: Components): JsonSchema {
  const { $ref: reference, ...rest } = schema;
  if (typeof reference !== "string") return schema;
  return { ...(components[reference.slice(reference.lastIndexOf("/") + 1)] as JsonSchema), ...rest };
}

function objectExample(shape: JsonSchema, components: Components, depth: number): Record<string, unknown> {
  const { properties = {}, required = [] } = shape as { properties?: Record<string, JsonSchema>; required?: string[] };
  if (depth > MAX_DEPTH) return {};
  const fields = Object.entries(properties).filter(([name, field]) => !field.deprecated || required.includes(name));
  return Object.fromEntries(
    fields.map(([name, field]) => [name, exampleOf(field, components, { name, depth: depth + 1 })]),
  );
}

/** Answers the first text that fits: one for the field's name, or one of the length that hashes and the like have. */
function textExample({ pattern, format, minLength }: JsonSchema, name: string): string {
  if (format === "uri") return "https://downlink.internal";
  const shape = new RegExp(typeof pattern === "string" ? pattern : "");
  const texts = [byName[name] ?? "", "text", "a".repeat(16), "a".repeat(64), `${"A".repeat(43)}=`, "properties.color"];
  return texts.find((text) => text.length >= Number(minLength ?? 1) && shape.test(text)) ?? "";
}
