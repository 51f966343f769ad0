-- AlterTable
ALTER TABLE "InboxToken" ADD COLUMN     "pubsubAudience" TEXT,
ADD COLUMN     "pubsubServiceAccount" TEXT,
ADD COLUMN     "snsTopicArn" TEXT;

-- CreateTable
CREATE TABLE "BucketNotification" (
    "siteId" TEXT NOT NULL,
    "messageSha256" TEXT NOT NULL,
    "receivedAtNs" BIGINT NOT NULL,

    CONSTRAINT "BucketNotification_pkey" PRIMARY KEY ("siteId","messageSha256")
);

-- CreateIndex
CREATE INDEX "BucketNotification_receivedAtNs_idx" ON "BucketNotification"("receivedAtNs");

-- AddForeignKey
ALTER TABLE "BucketNotification" ADD CONSTRAINT "BucketNotification_siteId_fkey" FOREIGN KEY ("siteId") REFERENCES "Site"("id") ON DELETE CASCADE ON UPDATE CASCADE;
