-- AlterTable
ALTER TABLE "BucketUpload" ADD COLUMN     "place" TEXT;

-- CreateTable
CREATE TABLE "StoreMove" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "name" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "source" JSONB NOT NULL,
    "target" JSONB NOT NULL,
    "keptAtNs" BIGINT,

    CONSTRAINT "StoreMove_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "MovedObject" (
    "key" TEXT NOT NULL,
    "sizeBytes" BIGINT NOT NULL,
    "sha256" TEXT NOT NULL,

    CONSTRAINT "MovedObject_pkey" PRIMARY KEY ("key")
);

-- The states that the schema names are those that the column takes.
ALTER TABLE "StoreMove" ADD CONSTRAINT "StoreMove_state_is_known" CHECK ("state" IN ('copying', 'both', 'kept'));
