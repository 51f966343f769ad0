-- AlterTable
ALTER TABLE "Device" ADD COLUMN     "agentSettings" JSONB NOT NULL DEFAULT '{}';
