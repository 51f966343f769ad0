// A package is stored first and then read by random access, and not held in memory, because 64 MiB times the number of senders is too much.
// A refused package is removed at once; after a failed commit the object stays, because the row may exist.

import { createHash } from "node:crypto";
import { extensionUpload, MAX_EXTENSION_BYTES } from "@downlink/protocol";
import { findActor } from "../../calls/audit-log/find-actor.ts";
import { writeEntry } from "../../calls/audit-log/write-entry.ts";
import type { Ctx } from "../../calls/context/context.ts";
import { limitToRoom, requireRoomForBytes } from "../../calls/quotas/require-room.ts";
import { ApiError, refuse } from "../../core/errors.ts";
import { newId } from "../../db/ids.ts";
import { onUniqueViolation } from "../../db/sql-state.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { BlobTooLargeError } from "../../store/blobs/blob-errors.ts";
import { type Manifest, readManifest } from "./package-manifest.ts";

interface Package {
  readonly body: AsyncIterable<Uint8Array>;
  readonly expectedBytes: number | undefined;
}

/** A package whose bytes are stored; disposing removes them, unless a row may name them. */
export interface StoredPackage extends AsyncDisposable {
  readonly versionId: string;
  readonly blobKey: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  mayBeNamed: boolean;
}

export async function storePackage(ctx: Ctx, { body, expectedBytes }: Package): Promise<StoredPackage> {
  const versionId = newId("extv");
  const blobKey = `${ctx.caller.orgId}/${versionId}`;
  const { orgId } = ctx.caller;
  await requireRoomForBytes(ctx.db.prisma, orgId, BigInt(expectedBytes ?? 1));
  const fitting = expectedBytes === undefined ? limitToRoom(body, { db: ctx.db.prisma, orgId }) : body;
  const { sizeBytes, sha256 } = await ctx.blobs.put(blobKey, fitting, { maxBytes: MAX_EXTENSION_BYTES, expectedBytes });
  const stored: StoredPackage = {
    ...{ versionId, blobKey, sizeBytes, sha256, mayBeNamed: false },
    async [Symbol.asyncDispose]() {
      if (!stored.mayBeNamed) await ctx.blobs.delete(blobKey);
    },
  };
  return stored;
}

/** Computes the SHA-256 of a package in hex, and stores nothing. */
export async function hashPackage(body: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  let sizeBytes = 0;
  for await (const piece of body) {
    sizeBytes += piece.byteLength;
    if (sizeBytes > MAX_EXTENSION_BYTES) throw new BlobTooLargeError(MAX_EXTENSION_BYTES);
    hash.update(piece);
  }
  return hash.digest("hex");
}

/** Reads a package's manifest, and makes it the active version of its extension. spec: Extensions/Publish */
export async function publishStored(ctx: Ctx, stored: StoredPackage): Promise<{ id: string }> {
  const { versionId, blobKey, sizeBytes, sha256 } = stored;
  stored.mayBeNamed = true;
  try {
    const manifest = await readStored(ctx, blobKey);
    const version = { id: versionId, sizeBytes: BigInt(sizeBytes), sha256, blobKey, manifest };
    return await withTransaction(ctx.db, (tx) => addVersion(tx, ctx, version)).catch(versionTaken(manifest));
  } catch (error) {
    if (error instanceof ApiError) stored.mayBeNamed = false; // after any other failure a row may exist
    throw error;
  }
}

async function readStored({ blobs }: Ctx, blobKey: string): Promise<Manifest> {
  await using reader = await blobs.open(blobKey);
  return await readManifest(reader);
}

interface NewVersion {
  readonly id: string;
  readonly sizeBytes: bigint;
  readonly sha256: string;
  readonly blobKey: string;
  readonly manifest: Manifest;
}

async function addVersion(tx: Transaction, ctx: Ctx, { manifest, ...file }: NewVersion): Promise<{ id: string }> {
  const nowNs = ctx.clock.nowNs();
  const extension = await lockExtension(tx, { orgId: ctx.caller.orgId, manifest, nowNs });
  if (extension.displayName !== manifest.displayName)
    refuse("Conflict", `the displayName is "${extension.displayName}" and cannot be changed by a later version`);
  const { id: extensionId } = extension;
  await tx.extensionVersion.create({
    data: { ...file, extensionId, version: manifest.version, createdAtNs: nowNs },
  });
  await tx.extension.update({ where: { id: extensionId }, data: { activeVersionId: file.id } });
  const { publisher, name, version, displayName } = manifest;
  const change = { operation: extensionUpload.called, resourceKind: "extension", resourceId: extensionId } as const;
  const after = { publisher, name, displayName, activeVersion: version };
  await writeEntry(tx, await findActor(tx, ctx), { orgId: ctx.caller.orgId, nowNs, ...change, after });
  return { id: extensionId };
}

interface Named {
  readonly orgId: string;
  readonly manifest: Manifest;
  readonly nowNs: bigint;
}

/** Finds the extension of that publisher and name, in upper or lower case, or creates it; its row is locked until the transaction ends. */
async function lockExtension(
  tx: Transaction,
  { orgId, manifest, nowNs }: Named,
): Promise<{ id: string; displayName: string }> {
  const { publisher, name, displayName, description = null } = manifest;
  const identity = JSON.stringify([publisher, name].map((text) => text.normalize().toLowerCase()));
  const [row] = await tx.$queryRaw<{ id: string; displayName: string }[]>`
    INSERT INTO "Extension"
      ("id", "orgId", "publisher", "name", "identity", "displayName", "description", "createdAtNs", "updatedAtNs")
    VALUES
      (${newId("ext")}, ${orgId}, ${publisher}, ${name}, ${identity}, ${displayName}, ${description}, ${nowNs}, ${nowNs})
    ON CONFLICT ("orgId", "identity")
      DO UPDATE SET "description" = EXCLUDED."description", "updatedAtNs" = EXCLUDED."updatedAtNs"
    RETURNING "id", "displayName"`;
  return row!;
}

function versionTaken({ publisher, name, version }: Manifest) {
  return onUniqueViolation(() =>
    refuse("NameTaken", `version ${version} of ${publisher}.${name} was published already`),
  );
}
