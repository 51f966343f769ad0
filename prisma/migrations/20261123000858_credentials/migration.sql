-- CreateTable
CREATE TABLE "Credential" (
    "tokenSha256" TEXT NOT NULL,
    "apiKeyId" TEXT,
    "deviceTokenId" TEXT,
    "siteTokenId" TEXT,
    "inboxTokenId" TEXT,

    CONSTRAINT "Credential_pkey" PRIMARY KEY ("tokenSha256")
);

-- CreateIndex
CREATE UNIQUE INDEX "Credential_apiKeyId_key" ON "Credential"("apiKeyId");

-- CreateIndex
CREATE UNIQUE INDEX "Credential_deviceTokenId_key" ON "Credential"("deviceTokenId");

-- CreateIndex
CREATE UNIQUE INDEX "Credential_siteTokenId_key" ON "Credential"("siteTokenId");

-- CreateIndex
CREATE UNIQUE INDEX "Credential_inboxTokenId_key" ON "Credential"("inboxTokenId");

-- AddForeignKey
ALTER TABLE "Credential" ADD CONSTRAINT "Credential_apiKeyId_fkey" FOREIGN KEY ("apiKeyId") REFERENCES "ApiKey"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Credential" ADD CONSTRAINT "Credential_deviceTokenId_fkey" FOREIGN KEY ("deviceTokenId") REFERENCES "DeviceToken"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Credential" ADD CONSTRAINT "Credential_siteTokenId_fkey" FOREIGN KEY ("siteTokenId") REFERENCES "SiteToken"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Credential" ADD CONSTRAINT "Credential_inboxTokenId_fkey" FOREIGN KEY ("inboxTokenId") REFERENCES "InboxToken"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- A credential opens exactly one thing.
ALTER TABLE "Credential" ADD CONSTRAINT "Credential_one_token"
    CHECK (num_nonnulls("apiKeyId", "deviceTokenId", "siteTokenId", "inboxTokenId") = 1);

-- Until now an enrolment could register the hash of a token of another kind. Whoever had a hash first keeps it.
INSERT INTO "Credential" ("tokenSha256", "apiKeyId", "deviceTokenId", "siteTokenId", "inboxTokenId")
    SELECT DISTINCT ON ("tokenSha256") "tokenSha256", "apiKeyId", "deviceTokenId", "siteTokenId", "inboxTokenId"
    FROM (
        SELECT "tokenSha256", "createdAtNs", id AS "apiKeyId", NULL AS "deviceTokenId", NULL AS "siteTokenId",
            NULL AS "inboxTokenId", 1 AS kind FROM "ApiKey" UNION ALL
        SELECT "tokenSha256", "createdAtNs", NULL, id, NULL, NULL, 4 FROM "DeviceToken" UNION ALL
        SELECT "tokenSha256", "createdAtNs", NULL, NULL, id, NULL, 2 FROM "SiteToken" UNION ALL
        SELECT "tokenSha256", "createdAtNs", NULL, NULL, NULL, id, 3 FROM "InboxToken"
    ) AS tokens
    ORDER BY "tokenSha256", "createdAtNs", kind;

-- DropIndex
DROP INDEX "ApiKey_tokenSha256_key";

-- DropIndex
DROP INDEX "DeviceToken_tokenSha256_key";

-- DropIndex
DROP INDEX "InboxToken_tokenSha256_key";

-- DropIndex
DROP INDEX "SiteToken_tokenSha256_key";

-- AlterTable
ALTER TABLE "ApiKey" DROP COLUMN "tokenSha256";

-- AlterTable
ALTER TABLE "DeviceToken" DROP COLUMN "tokenSha256";

-- AlterTable
ALTER TABLE "InboxToken" DROP COLUMN "tokenSha256";

-- AlterTable
ALTER TABLE "SiteToken" DROP COLUMN "tokenSha256";
