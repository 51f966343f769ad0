-- AlterTable
ALTER TABLE "Webhook" ADD COLUMN     "servedUntilNs" BIGINT NOT NULL DEFAULT 0;
