interface Schema {
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly type?: string | readonly string[];
  readonly minimum?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly propertyNames?: Schema;
  readonly items?: Schema;
}

/** Lists the places where a value breaks a schema, for the part of JSON Schema that `status-schema.ts` uses. */
export function violations(schema: Schema, value: unknown, path = "$"): string[] {
  if ("const" in schema && value !== schema.const) return [`${path} is not ${String(schema.const)}`];
  if (schema.enum && !schema.enum.includes(value)) return [`${path} is none of the allowed`];
  const types = schema.type === undefined ? [] : [schema.type].flat();
  if (types.length > 0 && !types.includes(typeOf(value))) return [`${path} is ${typeOf(value)}`];
  if (typeof value === "number" && value < (schema.minimum ?? -Infinity)) return [`${path} is below the minimum`];
  if (Array.isArray(value))
    return value.flatMap((item, index) => violations(schema.items ?? {}, item, `${path}[${index}]`));
  return typeOf(value) === "object" ? objectViolations(schema, value as Record<string, unknown>, path) : [];
}

function objectViolations(schema: Schema, value: Record<string, unknown>, path: string): string[] {
  const { properties = {}, required = [], additionalProperties = true, propertyNames = {} } = schema;
  const missing = required.filter((name) => !(name in value)).map((name) => `${path}.${name} is missing`);
  const wrong = Object.entries(value).flatMap(([name, item]) => {
    const rest = typeof additionalProperties === "object" ? additionalProperties : {};
    if (!(name in properties) && additionalProperties === false) return [`${path}.${name} is not known`];
    return [
      ...violations(propertyNames, name, `${path} key ${name}`),
      ...violations(properties[name] ?? rest, item, `${path}.${name}`),
    ];
  });
  return [...missing, ...wrong];
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
}
