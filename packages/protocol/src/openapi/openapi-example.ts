interface JsonSchema {
  readonly [keyword: string]: unknown;
}

type Components = Readonly<Record<string, unknown>>;

const MAX_DEPTH = 6;
/** An example for a field of this name, if its schema gives none. */
const byName: Readonly<Record<string, string>> = {
  name: "rover-1",
  deviceName: "rover-1",
  key: "drive-1",
  recordingKey: "2026-01-02/drive-1.mcap",
  sessionKey: "drive-1",
  path: "2026-01-02/drive-1.mcap",
  filename: "drive-1.mcap",
  topic: "/imu",
  label: "Colour",
  versionNumber: "1",
  colorName: "blue",
  link: "https://downlink.internal/data-plane/exports?v=1",
};

/** The prefix of a thing's id, by the last words of its name. spec: wire contract, ids */
const prefixes: Readonly<Record<string, string>> = {
  account: "acc",
  agent: "agt",
  apikey: "key",
  attachment: "att",
  auditentry: "aud",
  createdby: "key",
  customproperties: "cp",
  customproperty: "cp",
  cut: "cut",
  dataset: "ds",
  delivery: "whev",
  device: "dev",
  devicetoken: "dt",
  edgefile: "ef",
  episode: "ep",
  event: "evt",
  eventtype: "evtt",
  extension: "ext",
  import: "imp",
  inboxnotificationtoken: "snt",
  inboxtoken: "snt",
  invitation: "inv",
  lakefile: "obj",
  mapping: "map",
  member: "mem",
  org: "org",
  organization: "org",
  project: "prj",
  propertyinterval: "dpi",
  propertytimeinterval: "dpi",
  recording: "rec",
  request: "req",
  savedview: "sv",
  selection: "exp",
  session: "sess",
  site: "site",
  sitetoken: "st",
  trainingset: "ts",
  upload: "upl",
  viewlink: "view",
  webhook: "wh",
};
const things = Object.keys(prefixes).sort((one, other) => other.length - one.length);

/** The id that stands in examples for a thing with such a prefix. */
export const exampleId = (prefix: string): string => `${prefix}_01k7x9d3q8w5f2m6n4p0r1s7t9`;

/** A layout keeps the id that its client chose. */
const LAYOUT_ID = "6f1ad4f4-7d0f-4b34-9d56-3a5b2f0f6c11";

interface Place {
  readonly name?: string;
  readonly depth?: number;
  /** The thing that the fields are of: a resource, a component or the field before. */
  readonly owner?: string;
}

/** A value that follows a wire schema: what its `example`, `default` or `enum` says, else something plain. */
export function exampleOf(schema: unknown, components: Components, place: Place = {}): unknown {
  const { name = "", depth = 0 } = place;
  const shape = resolve(schema as JsonSchema, components);
  const owner = componentOf(schema as JsonSchema) ?? place.owner ?? "";
  for (const keyword of ["example", "default", "const"]) if (shape[keyword] !== undefined) return shape[keyword];
  if (Array.isArray(shape.enum)) return shape.enum[0];
  const choices = (shape.anyOf ?? shape.oneOf) as JsonSchema[] | undefined;
  if (choices) return exampleOf(choices[0], components, { ...place, owner });
  const type = [shape.type].flat()[0]; // a nullable one names its type first
  if (type === "object") return objectExample(shape, components, { owner, depth });
  if (type === "array")
    return depth > MAX_DEPTH ? [] : [exampleOf(shape.items, components, { name, owner, depth: depth + 1 })];
  if (type === "string") return textExample(shape, { name, owner });
  return plainExample(type, shape);
}

function plainExample(type: unknown, { minimum = 0 }: JsonSchema): unknown {
  if (type === "boolean") return true;
  return type === "integer" || type === "number" ? Math.max(Number(minimum), 0) : {};
}

function resolve(schema: JsonSchema, components: Components): JsonSchema {
  const { $ref: _, ...rest } = schema;
  const component = componentOf(schema);
  return component === undefined ? schema : { ...(components[component] as JsonSchema), ...rest };
}

function componentOf({ $ref: reference }: JsonSchema): string | undefined {
  return typeof reference === "string" ? reference.slice(reference.lastIndexOf("/") + 1) : undefined;
}

function objectExample(
  shape: JsonSchema,
  components: Components,
  { owner, depth = 0 }: Place,
): Record<string, unknown> {
  const { properties = {}, required = [] } = shape as { properties?: Record<string, JsonSchema>; required?: string[] };
  if (depth > MAX_DEPTH) return {};
  const fields = Object.entries(properties).filter(([name, field]) => !field.deprecated || required.includes(name));
  return Object.fromEntries(
    fields.map(([name, field]) => {
      const isThing = name !== "id" && idExample("id", name) !== undefined;
      return [name, exampleOf(field, components, { name, owner: isThing ? name : owner, depth: depth + 1 })];
    }),
  );
}

/** Answers the first text that fits: one for the field's name, or one of the length that hashes and the like have. */
function textExample({ pattern, format, minLength }: JsonSchema, { name = "", owner = "" }: Place): string {
  if (format === "uri") return "https://downlink.internal";
  const shape = new RegExp(typeof pattern === "string" ? pattern : "");
  const known = [idExample(name, owner) ?? "", byName[name] ?? ""];
  const texts = [...known, "text", "a".repeat(16), "a".repeat(64), `${"A".repeat(43)}=`, "properties.color"];
  return texts.find((text) => text.length >= Number(minLength ?? 1) && shape.test(text)) ?? "";
}

/** Returns the id that `id` or `recordingIds` shows; undefined for a field that names no thing with an id. */
function idExample(name: string, owner: string): string | undefined {
  const named = /^(id|\w+OrId)$/.test(name) ? owner : /^(\w+)Ids?$/.exec(name)?.[1];
  if (named === undefined) return undefined;
  const thing = named.toLowerCase().replace(/summary$/, "");
  if (/layouts?$/.test(thing)) return LAYOUT_ID;
  const found = things.find((known) => thing.endsWith(known) || thing.endsWith(`${known}s`));
  return found && exampleId(prefixes[found]!);
}
