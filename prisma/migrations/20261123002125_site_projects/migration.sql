-- AlterTable
ALTER TABLE "Site" ADD COLUMN     "projectIds" TEXT[] DEFAULT ARRAY[]::TEXT[];
