interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly example?: unknown;
  readonly schema: { readonly example?: unknown };
}

interface Described {
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: unknown }>> };
}

/** Returns a module that calls each operation of an OpenAPI document by the types in `types.ts`, with the examples that the document has. */
export function writeCalls(document: Readonly<Record<string, unknown>>): string {
  const paths = document.paths as Readonly<Record<string, Readonly<Record<string, Described>>>>;
  const calls = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, described]) => `client.${method.toUpperCase()}(${JSON.stringify(path)}, ${writeInput(described)});`,
    ),
  );
  return [
    'import createClient from "openapi-fetch";',
    'import type { paths } from "./types.ts";',
    "const client = createClient<paths>();",
    ...calls,
  ].join("\n");
}

function writeInput({ parameters, requestBody }: Described): string {
  const required = Object.groupBy(
    parameters.filter((parameter) => parameter.required),
    (parameter) => parameter.in,
  );
  const params = Object.entries(required).map(([place, ones]) => [
    place,
    Object.fromEntries(ones.map(({ name, example, schema }) => [name, example ?? schema.example])),
  ]);
  const [content] = Object.values(requestBody?.content ?? {});
  const body = content && { body: content.example ?? "bytes" };
  return JSON.stringify({ params: Object.fromEntries(params), ...body });
}
