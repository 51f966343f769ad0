-- AlterTable
ALTER TABLE "ImportRequest" ADD COLUMN     "isAdopted" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "Recording" ADD COLUMN     "isUnverified" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "Adoption" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "incarnation" TEXT NOT NULL,
    "pass" TEXT NOT NULL,
    "doneUntil" TEXT NOT NULL DEFAULT '',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "beatAtNs" BIGINT,
    "adopted" INTEGER NOT NULL DEFAULT 0,
    "reopened" INTEGER NOT NULL DEFAULT 0,
    "doubtful" INTEGER NOT NULL DEFAULT 0,
    "looked" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "Adoption_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "FoundUpload" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "isImported" BOOLEAN NOT NULL,

    CONSTRAINT "FoundUpload_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "MissingObject" (
    "recordingId" TEXT NOT NULL,
    "blobKey" TEXT NOT NULL,

    CONSTRAINT "MissingObject_pkey" PRIMARY KEY ("recordingId")
);

-- Most of the time nothing is in them.
CREATE INDEX "ImportRequest_versionId_adopted" ON "ImportRequest"("versionId") WHERE "isAdopted";
CREATE INDEX "Recording_id_unverified" ON "Recording"("id") WHERE "isUnverified";
CREATE INDEX "Recording_id_lost" ON "Recording"("id")
  WHERE "importStatus" <> 'complete' AND ("blobKey" IS NOT NULL OR "failureCode" = 'ObjectMissing');
