import type { Operation } from "@downlink/protocol";

export interface EncodedRequest {
  readonly method: string;
  /** The path and the query, beginning with `/`. */
  readonly target: string;
  readonly body: string | undefined;
}

/** Throws a `ZodError` for a value that the contract does not allow. Nothing was sent then. */
export function encodeRequest(operation: Operation, input: Readonly<Record<string, unknown>>): EncodedRequest {
  const params = encodeFields(operation.params, input);
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeSegment(name, params[name]));
  const query = encodeQuery(encodeFields(operation.query, input));
  return {
    method: operation.method.toUpperCase(),
    target: query === "" ? path : `${path}?${query}`,
    body: operation.body ? JSON.stringify(encodeFields(operation.body, input)) : undefined,
  };
}

/** Encodes field by field, because encoding a whole object would demand the fields that have a default. */
function encodeFields(schema: Operation["body"], input: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const encoded: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(schema?.shape ?? {})) {
    if (input[name] !== undefined) encoded[name] = (field as NonNullable<Operation["response"]>).encode(input[name]);
  }
  return encoded;
}

function encodeSegment(name: string, value: unknown): string {
  if (value === undefined || value === "") throw new TypeError(`the path parameter ${name} is missing`);
  return encodeURIComponent(String(value));
}

function encodeQuery(query: Record<string, unknown>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const text of [value].flat()) search.append(name, String(text));
  }
  return search.toString();
}
