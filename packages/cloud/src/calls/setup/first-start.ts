import { randomBytes, randomUUID } from "node:crypto";
import { EVERY_CAPABILITY } from "@downlink/protocol";
import { ConfigError } from "../../core/config-error.ts";
import type { Database } from "../../db/client.ts";
import { newId } from "../../db/ids.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { hashToken, mintToken } from "../../process/credentials/mint.ts";
import { newCredential } from "../tokens/token-rows.ts";
import { createOrganization } from "./organization.ts";

export interface Deployment {
  readonly incarnation: string;
  readonly signingKey: string;
}

interface FirstStartOptions {
  /** Presets the text of the admin key, at every start. */
  readonly adminKey: string | undefined;
  readonly nowNs: bigint;
  /** Stores the key of a new deployment. It is called before the commit, because a key that was not stored is of no use. */
  readonly keepAdminKey: (token: string) => Promise<void>;
}

/**
 * Creates what a deployment needs before its first request: its own row, and an organization with a project `default`, a primary site and
 * an admin key. Several processes may start at once.
 */
export async function prepareDeployment(db: Database, options: FirstStartOptions): Promise<Deployment> {
  return withTransaction(db, async (tx) => {
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended('downlink first start', 0))`;
    const deployment = await tx.deployment.upsert({
      where: { id: 1 },
      create: { id: 1, incarnation: randomUUID(), signingKey: randomBytes(32).toString("base64url") },
      update: {},
    });
    const existing = await tx.organization.findFirst({ orderBy: { createdAtNs: "asc" } });
    if (!existing) await createFirstOrganization(tx, options);
    else if (options.adminKey)
      await presetKey(tx, { orgId: existing.id, token: options.adminKey, nowNs: options.nowNs });
    return deployment;
  });
}

async function createFirstOrganization(
  tx: Transaction,
  { adminKey, nowNs, keepAdminKey }: FirstStartOptions,
): Promise<void> {
  const token = adminKey ?? mintToken("dl_sk");
  await createOrganization(tx, { name: "default", adminToken: token, nowNs });
  await keepAdminKey(token);
}

async function presetKey(
  tx: Transaction,
  { orgId, token, nowNs }: { orgId: string; token: string; nowNs: bigint },
): Promise<void> {
  const tokenSha256 = hashToken(token);
  const known = await tx.credential.findUnique({ where: { tokenSha256 } });
  if (known?.apiKeyId) return;
  if (known) throw new ConfigError(["DOWNLINK_ADMIN_KEY: is a token of another kind; take another text"]);
  await tx.apiKey.create({
    data: {
      id: newId("key"),
      orgId,
      name: "admin (preset)",
      credential: { create: newCredential(token) },
      capabilities: [EVERY_CAPABILITY],
      createdAtNs: nowNs,
    },
  });
}
