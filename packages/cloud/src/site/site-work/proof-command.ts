import { type Command, InvalidArgumentError } from "commander";
import { commandLine, writeEntry } from "../../calls/audit-log/write-entry.ts";
import type { Deps } from "../../calls/context/context.ts";
import { holdIncarnation } from "../../db/incarnation.ts";
import { withTransaction } from "../../db/transaction.ts";
import { findSelfHosted } from "../../organization/projects/find-self-hosted.ts";

interface Deployment {
  /** Opens the database and the stores, even beside a running control plane. */
  beside(use: (deps: Deps) => Promise<void>): Promise<void>;
}

/** Adds the command that lets a self-hosted site prove that devices may delete their copies, or forbids it. */
export function addProofCommand(site: Command, { beside }: Deployment): void {
  site
    .command("prove-deletions <site> <on|off>")
    .description("whether devices may delete files that this self-hosted site has; by the site's id or name")
    .action((name: string, given: string) => beside((deps) => setProof(deps, name, readSwitch(given))));
}

function readSwitch(text: string): boolean {
  if (text !== "on" && text !== "off") throw new InvalidArgumentError("on or off.");
  return text === "on";
}

/** The permission is for the deployment as it is now: after a restore an admin gives it again. */
export async function setProof(
  { db, clock }: Pick<Deps, "db" | "clock">,
  name: string,
  provesDeletions: boolean,
): Promise<void> {
  await withTransaction(db, async (tx) => {
    const { id, orgId, provesInIncarnation: former } = await findSelfHosted(tx, name);
    const incarnation = await holdIncarnation(tx);
    await tx.site.update({ where: { id }, data: { provesInIncarnation: provesDeletions ? incarnation : null } });
    const states = { before: { provesDeletions: former === incarnation }, after: { provesDeletions } };
    const change = { operation: "site prove-deletions", resourceKind: "site", resourceId: id } as const;
    await writeEntry(tx, commandLine, { orgId, nowNs: clock.nowNs(), ...change, ...states });
  });
}
