import { Prisma } from "../../db/generated/client.ts";
import { IS_OURS } from "../../db/stored-data.ts";
import type { Session } from "./listed-objects.ts";

/** A row that says that an object exists. */
export interface Promised {
  /** The table, in words. */
  readonly what: string;
  readonly id: string;
  readonly orgId: string;
  readonly key: string;
  /** Null if the row does not have it. */
  readonly sizeBytes: string | null;
  /** The hash of the stored bytes; null if the row does not have it. */
  readonly sha256: string | null;
}

export const RECORDING = "recording";
export const INDEX = "the index of recording";

/**
 * The objects of our own store that rows name: what lies in a customer's bucket may come and go as the customer likes. An index that is being made is left out, because its row names it before its first byte. So is what the
 * sender of an import announced of its bytes, which may turn out to be wrong.
 */
const VIEW = Prisma.sql`CREATE TEMPORARY VIEW promised AS
  SELECT '${Prisma.raw(RECORDING)}' AS what, id, "orgId", "blobKey" AS key, "sizeBytes", "contentSha256" AS sha256
  FROM "Recording" WHERE "blobKey" IS NOT NULL AND ${IS_OURS}
  UNION ALL SELECT '${Prisma.raw(INDEX)}', id, "orgId", "indexKey", NULL, NULL
  FROM "Recording" WHERE "indexKey" IS NOT NULL
  UNION ALL SELECT 'import request', id, "orgId", "blobKey", "sizeBytes", NULL
  FROM "ImportRequest" WHERE "blobKey" IS NOT NULL AND ${IS_OURS}
  UNION ALL SELECT 'extension version', v.id, e."orgId", v."blobKey", v."sizeBytes", v.sha256
  FROM "ExtensionVersion" v JOIN "Extension" e ON e.id = v."extensionId"`;

export async function createPromised(session: Session): Promise<void> {
  await session.query(VIEW);
}

/** Reads what rows promise about these keys at this moment. */
export function readPromised(session: Session, keys: readonly string[]): Promise<Promised[]> {
  return session.query<Promised>(Prisma.sql`SELECT * FROM promised WHERE key = ANY (${keys}) ORDER BY key, what, id`);
}
