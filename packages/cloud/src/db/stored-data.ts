// Parts of statements about the stored data of recordings. The index `Recording_read_at` has the same texts.

import { Prisma } from "./generated/client.ts";

/** Our own store has the object, and not a customer's bucket. It is about a column "blobKey" that is not null. */
export const IS_OURS = Prisma.sql`"blobKey" NOT LIKE '%/obj\\_%'`;

/** The recording has data whose bytes can be compared with what was imported, and that is not known to be damaged. */
export const IS_PROVABLE = Prisma.sql`"importStatus" = 'complete' AND "storedDamage" IS NULL AND "contentSha256" IS NOT NULL AND "blobKey" IS NOT NULL
  AND ${IS_OURS}`;

/** When the bytes of such a recording were last known to be those that were imported. */
export const READ_AT_NS = Prisma.sql`coalesce("verifiedAtNs", "importedAtNs", 0)`;

/** Since when all of it was read, in seconds since 1970; 0 where there is none. */
export const LAST_WHOLE_READ = Prisma.sql`
  SELECT coalesce(min(${READ_AT_NS}) / 1e9, 0)::float8 AS seconds FROM "Recording" WHERE ${IS_PROVABLE}`;
