import { type Capability, EVERY_CAPABILITY, type Me, me, type Operation } from "@downlink/protocol";
import { type Query, useQuery } from "./use-query.ts";

/** Asks for the user who looks at the pages, with their projects. */
export function useMe(): Query<Me> {
  return useQuery(me.get, {});
}

/** Returns whether a user may do a thing. The service refuses it anyway: this decides only what is shown. */
export function may(person: Pick<Me, "capabilities"> | undefined, capability: Capability): boolean {
  return (
    person !== undefined && (person.capabilities.includes(EVERY_CAPABILITY) || person.capabilities.includes(capability))
  );
}

/** Returns whether a user may call an operation: a key that is limited to some projects may not see the organization's resources. */
export function mayCall(person: Me | undefined, { access }: Pick<Operation, "access">): boolean {
  if (access.kind !== "apiKey") return access.kind === "person";
  if (access.reach === "organization" && person?.isLimited) return false;
  return may(person, access.capability);
}
