-- AlterTable
ALTER TABLE "Webhook" ADD COLUMN     "formerSecret" BYTEA,
ADD COLUMN     "formerUntilNs" BIGINT;

-- AlterTable
ALTER TABLE "WebhookDelivery" ADD COLUMN     "answer" TEXT,
ADD COLUMN     "tookMs" INTEGER;
