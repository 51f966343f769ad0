-- AlterTable
ALTER TABLE "DeploymentMark" ADD COLUMN     "openedAtNs" BIGINT;
