-- AlterTable
ALTER TABLE "Credential" ADD COLUMN     "createdBy" JSONB,
ADD COLUMN     "expiresAtNs" BIGINT,
ADD COLUMN     "hint" TEXT,
ADD COLUMN     "lastUsedAtNs" BIGINT;
