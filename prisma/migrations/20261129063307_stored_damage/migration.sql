-- AlterTable
ALTER TABLE "Deployment" ADD COLUMN     "damageSeenAtNs" BIGINT;

-- AlterTable
ALTER TABLE "ImportRequest" ADD COLUMN     "isRepair" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "Recording" ADD COLUMN     "damagedSinceNs" BIGINT,
ADD COLUMN     "storedDamage" TEXT,
ADD COLUMN     "verifiedAtNs" BIGINT;

ALTER TABLE "Recording" ADD CONSTRAINT "Recording_storedDamage_is_known"
  CHECK ("storedDamage" IN ('missing', 'truncated', 'altered')) NOT VALID;

-- Hardly any recording is damaged: what counts them, and what repairs them, reads only these.
CREATE INDEX "Recording_stored_damage" ON "Recording" (id) WHERE "storedDamage" IS NOT NULL;
