import type { Operation } from "@downlink/protocol";

interface OpenApi {
  readonly paths: Record<string, Record<string, { requestBody?: { content: Record<string, { example: unknown }> } }>>;
}

/** Returns the body that the documentation shows for an operation; undefined if it has none. */
export async function readExamples(url: string): Promise<(operation: Operation) => unknown> {
  const { paths } = (await (await fetch(`${url}/v1/openapi.json`)).json()) as OpenApi;
  return ({ path, method }) => paths[path]![method]!.requestBody?.content["application/json"]?.example;
}
