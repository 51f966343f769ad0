import { readFileSync } from "node:fs";
import { join } from "node:path";
import { writeDurableFile } from "../durable/durable-file.ts";
import type { FactsTable } from "./facts-table.ts";
import { StateRefusedError } from "./state-errors.ts";

const ownerFacts = [
  "machineId",
  "apiUrl",
  "orgId",
  "deviceId",
  "deviceName",
  "projectId",
  "projectName",
  "siteId",
  "siteName",
  "rootMarkerId",
  "cards",
] as const;
/** Whose state a directory holds. Machine and URL are known at the first start; the rest comes from the cloud and the root. */
export type Owner = { readonly [K in (typeof ownerFacts)[number]]?: string | undefined };

/**
 * The owner is also kept in a file beside the database, with the root marker: a state that loses the database must not
 * also forget which root was there, or an empty mount point would pass for an empty root.
 */
export interface OwnerFacts {
  owner(): Owner;
  /** Throws {@link StateRefusedError} when a known fact of the same name differs and may not change. */
  bind(facts: Owner): void;
  /** Does what `bind` does, where the operator says that the facts are meant to change. */
  rebind(facts: Owner): void;
  /** Notes which root is there, once the inventory has recorded it. */
  noteRoot(markerId: string): void;
}

export function openOwner(table: FactsTable, stateDir: string): OwnerFacts {
  const fromFile = readOwnerFile(stateDir);
  let owner: Owner = Object.fromEntries(ownerFacts.map((name) => [name, table.read(name) ?? fromFile[name]]));
  const rebind = (facts: Owner) => {
    const changed = ownerFacts.filter((name) => facts[name] !== undefined && facts[name] !== table.read(name));
    if (changed.length === 0) return;
    const next = { ...owner, ...facts };
    writeOwnerFile(stateDir, next);
    for (const name of changed) table.record(name, facts[name]!);
    owner = next;
  };
  return {
    owner: () => owner,
    bind(facts) {
      refuseOther(owner, facts, stateDir);
      rebind(facts);
    },
    rebind,
    noteRoot(rootMarkerId) {
      owner = { ...owner, rootMarkerId };
      writeOwnerFile(stateDir, owner);
      if (table.read("rootMarkerId") !== rootMarkerId) table.record("rootMarkerId", rootMarkerId);
    },
  };
}

/** Lets the group read the file, because its members may read the state (`share-state.ts`). */
function writeOwnerFile(stateDir: string, owner: Owner): void {
  writeDurableFile(ownerPath(stateDir), `${JSON.stringify(owner, null, 2)}\n`, 0o640);
}

/** The facts that may not change, and what to say where one differs. */
const fixedFacts = [
  ["machineId", "was made on another machine"],
  ["apiUrl", "belongs to another control plane"],
  ["orgId", "belongs to another organization"],
  ["deviceId", "belongs to another device"],
  ["siteId", "belongs to another site"],
] as const;

function refuseOther(owner: Owner, facts: Owner, stateDir: string): void {
  const isOfOtherKind = (owner.deviceId && facts.siteId) || (owner.siteId && facts.deviceId);
  if (isOfOtherKind)
    throw new StateRefusedError(
      `the state in ${stateDir} belongs to ${owner.siteId ? `site ${owner.siteName}` : `device ${owner.deviceName}`}; for a ${facts.siteId ? "site" : "device"} give DOWNLINK_STATE_DIR an empty directory`,
    );
  for (const [name, complaint] of fixedFacts) {
    const [known, given] = [owner[name], facts[name]];
    if (known === undefined || given === undefined || known === given) continue;
    throw new StateRefusedError(
      `the state in ${stateDir} ${complaint} (${name} ${known}, not ${given}). If the machine or the control plane changed, run \`agent enroll\` again; for another device give DOWNLINK_STATE_DIR an empty directory`,
    );
  }
}

function ownerPath(stateDir: string): string {
  return join(stateDir, "owner.json");
}

/** A file that is not what we write counts as missing. */
export function readOwnerFile(stateDir: string): Owner {
  try {
    const parsed: unknown = JSON.parse(readFileSync(ownerPath(stateDir), "utf8"));
    return typeof parsed === "object" && parsed !== null ? (parsed as Owner) : {};
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw error;
  }
}
