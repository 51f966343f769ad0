import { documentedApi, type Operation, toOpenApi } from "@downlink/protocol";
import type { Deps } from "../calls/context/context.ts";

type Documented = Readonly<Record<string, Readonly<Record<string, { readonly responses?: object }>>>>;

/** The caller went away before. */
const ANSWERED_TO_NOBODY = 499;
const service = { title: "", version: "", description: "", serverUrl: "" };
const { paths } = toOpenApi(documentedApi, service) as { paths: Documented };
/** The method in the document, by another one that means the same. */
const documentedMethods: ReadonlyMap<string, string> = new Map(
  Object.values(documentedApi)
    .flatMap((contract) => Object.values<Operation>(contract))
    .flatMap(({ alsoMethods = [], method, path }) => alsoMethods.map((other) => [`${other} ${path}`, method] as const)),
);

/** Throws if a control plane has answered with a status that the document does not name at that operation. */
export async function checkStatuses({ metrics }: Pick<Deps, "metrics">): Promise<void> {
  const { values } = await metrics.requests.get();
  const strange = values
    .map(({ labels: { operation, status } }) => ({ operation: String(operation), status: Number(status) }))
    .filter(({ operation, status }) => !isDocumented(operation, status))
    .map(({ operation, status }) => `${operation} answered ${status}`);
  if (strange.length > 0) throw new Error(`the document does not have these: ${strange.join(", ")}`);
}

function isDocumented(operation: string, status: number): boolean {
  const [given = "", path = ""] = operation === "unmatched" ? [] : operation.split(" ");
  const called = given.toLowerCase() === "head" ? "get" : given.toLowerCase();
  const responses = paths[path]?.[documentedMethods.get(`${called} ${path}`) ?? called]?.responses;
  return responses === undefined || status in responses || status === ANSWERED_TO_NOBODY;
}
