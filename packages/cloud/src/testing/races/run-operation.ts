import { api, ErrorBody, LEASE_HEADER, type Operation, pathParameters, toOpenApi } from "@downlink/protocol";
import type { TestCloud } from "../start-cloud.ts";
import type { Scene } from "./scenes.ts";

export interface NamedOperation {
  readonly called: string;
  readonly operation: Operation;
}

export interface Outcome {
  readonly called: string;
  readonly status: number;
  readonly text: string;
}

export const operations: readonly NamedOperation[] = Object.entries(api).flatMap(([resource, contract]) =>
  Object.entries(contract as Record<string, Operation>).map(([name, operation]) => ({
    called: `${resource}.${name}`,
    operation,
  })),
);

/** Says whether its path, query or body names a thing. */
export function namesSomething(operation: Operation): boolean {
  return operation.path.includes("{") || fieldsOf(operation).some((field) => REFERENCE.test(field));
}

/** Returns the operations that find something in the scene: their path, query or body names it. */
export function operationsOn(scene: Scene): NamedOperation[] {
  return operations.filter(({ operation }) => {
    const prefixes = prefixesOf(operation.path);
    if (!mayCall(scene, operation) || !prefixes.every((prefix) => prefix in scene.paths)) return false;
    if (prefixes.length > 0 || !["apiKey", "person"].includes(operation.access.kind) || operation.path in scene.paths)
      return true;
    return fieldsOf(operation).some((field) => REFERENCE.test(field) && field in scene.fields);
  });
}

function mayCall(scene: Scene, { access }: Operation): boolean {
  if (access.kind === "agent") return scene.agent !== undefined;
  if (access.kind === "site") return scene.site !== undefined;
  return access.kind === "apiKey" || access.kind === "person" || scene.enrolment !== undefined;
}

/** Returns what stands before each parameter of a path. */
function prefixesOf(path: string): string[] {
  return [...path.matchAll(/\/\{\w+\}/g)].map(({ index }) => path.slice(0, index));
}

/** The fields that name one thing, or several. */
const REFERENCE = /(Ids?|Keys?|Name|^recordings|^episodes)$/;

function fieldsOf({ query, body }: Operation): string[] {
  return [...Object.keys(query?.shape ?? {}), ...Object.keys(body?.shape ?? {})];
}

/** Calls the operation over HTTP with what its documentation shows, but about the things of the scene. */
export async function runOperation(
  cloud: TestCloud,
  scene: Scene,
  { called, operation }: NamedOperation,
): Promise<Outcome> {
  const prefixes = prefixesOf(operation.path);
  const path = pathParameters(operation.path).reduce(
    (text, name, position) => text.replace(`{${name}}`, encodeURIComponent(scene.paths[prefixes[position]!]!)),
    operation.path,
  );
  const response = await fetch(`${cloud.url}${path}?${queryOf(operation, scene)}`, {
    method: operation.method.toUpperCase(),
    headers: { "content-type": "application/json", ...credentials(cloud, scene, operation) },
    ...(operation.body && { body: JSON.stringify(bodyOf(operation, scene)) }),
  });
  const text = await response.text();
  if (response.status >= 400) ErrorBody.parse(JSON.parse(text));
  return { called, status: response.status, text };
}

function credentials(cloud: TestCloud, scene: Scene, { access }: Operation): Record<string, string> {
  const { agent, site, enrolment } = scene;
  const holder = access.kind === "agent" ? agent : site;
  if (access.kind === "agent" || access.kind === "site")
    return { authorization: `Bearer ${holder!.token}`, [LEASE_HEADER]: String(holder!.lease) };
  return { authorization: `Bearer ${access.kind === "enrolment" ? enrolment! : cloud.adminKey}` };
}

function queryOf({ query }: Operation, { fields }: Scene): URLSearchParams {
  const names = Object.keys(query?.shape ?? {}).filter((name) => name in fields);
  return new URLSearchParams(names.map((name): [string, string] => [name, String(fields[name])]));
}

/** Returns the documented body, about the scene's things and without references to others. */
function bodyOf({ path, method, body }: Operation, { fields }: Scene): Record<string, unknown> {
  const shown = Object.entries(examples[path]![method]!.requestBody!.content["application/json"].example);
  const isKept = (name: string) => !REFERENCE.test(name) || !body!.shape[name]!.safeParse(undefined).success;
  return Object.fromEntries(
    shown.flatMap(([name, value]) => {
      if (name in fields) return [[name, fields[name]]];
      return isKept(name) ? [[name, value]] : [];
    }),
  );
}

interface Documented {
  readonly requestBody?: { content: Record<"application/json", { example: Record<string, unknown> }> };
}

const examples = toOpenApi(api, { title: "", version: "", description: "", serverUrl: "" }).paths as Record<
  string,
  Record<string, Documented>
>;
