-- AlterTable
ALTER TABLE "Organization" ADD COLUMN     "maxMembers" INTEGER;
