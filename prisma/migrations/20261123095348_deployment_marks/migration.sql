-- AlterTable
ALTER TABLE "Deployment" ADD COLUMN     "ancestors" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "conflict" TEXT,
ADD COLUMN     "deletionHeldUntilNs" BIGINT,
ADD COLUMN     "recoveredAtNs" BIGINT,
ADD COLUMN     "recoveringReason" TEXT,
ADD COLUMN     "recoveringSinceNs" BIGINT;

-- CreateTable
CREATE TABLE "DeploymentMark" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "sequence" BIGINT NOT NULL DEFAULT 0,
    "confirmed" TEXT,
    "confirmedAtNs" BIGINT,
    "openedSequence" BIGINT NOT NULL DEFAULT 0,
    "postgres" TEXT,

    CONSTRAINT "DeploymentMark_pkey" PRIMARY KEY ("id")
);

-- The one row, whichever version comes to need it first.
INSERT INTO "DeploymentMark" ("id") VALUES (1);
