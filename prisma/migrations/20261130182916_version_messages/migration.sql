-- AlterTable
ALTER TABLE "DatasetVersion" ADD COLUMN     "message" TEXT;
