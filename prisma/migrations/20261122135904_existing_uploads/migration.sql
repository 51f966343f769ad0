-- AlterTable
ALTER TABLE "ImportRequest" ADD COLUMN     "isExisting" BOOLEAN NOT NULL DEFAULT false;
