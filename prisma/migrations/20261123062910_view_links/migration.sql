-- CreateTable
CREATE TABLE "ViewLink" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "projectId" TEXT NOT NULL,
    "apiKeyId" TEXT NOT NULL,
    "makerName" TEXT NOT NULL,
    "fileName" TEXT NOT NULL,
    "recordingCount" INTEGER NOT NULL,
    "unknownTopics" TEXT[],
    "selection" BYTEA NOT NULL,
    "createdAtNs" BIGINT NOT NULL,
    "expiresAtNs" BIGINT NOT NULL,

    CONSTRAINT "ViewLink_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "ViewLink_orgId_createdAtNs_id_idx" ON "ViewLink"("orgId", "createdAtNs", "id");

-- CreateIndex
CREATE INDEX "ViewLink_apiKeyId_expiresAtNs_idx" ON "ViewLink"("apiKeyId", "expiresAtNs");

-- CreateIndex
CREATE INDEX "ViewLink_expiresAtNs_idx" ON "ViewLink"("expiresAtNs");

-- AddForeignKey
ALTER TABLE "ViewLink" ADD CONSTRAINT "ViewLink_orgId_fkey" FOREIGN KEY ("orgId") REFERENCES "Organization"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ViewLink" ADD CONSTRAINT "ViewLink_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ViewLink" ADD CONSTRAINT "ViewLink_apiKeyId_fkey" FOREIGN KEY ("apiKeyId") REFERENCES "ApiKey"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- A link ends with what its maker may do. Whatever takes that from a key removes the links in the same transaction: no writer can forget
-- it, and a key that is enabled again does not bring them back. Prisma's schema language has no triggers.

CREATE FUNCTION downlink_end_view_links() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_TABLE_NAME = 'ApiKey' THEN
    DELETE FROM "ViewLink" WHERE "apiKeyId" = OLD."id";
  ELSE
    DELETE FROM "ViewLink" WHERE "apiKeyId" = OLD."apiKeyId";
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER "ApiKey_ends_view_links" AFTER UPDATE OF "enabled", "capabilities", "projectIds" ON "ApiKey" FOR EACH ROW
  WHEN (NOT NEW."enabled" OR NOT NEW."capabilities" && ARRAY['*', 'viewLinks.create'] OR OLD."projectIds" <> NEW."projectIds")
  EXECUTE FUNCTION downlink_end_view_links();
-- When it was used last is written twice a minute, and changes nothing.
CREATE TRIGGER "Credential_ends_view_links" AFTER UPDATE OF "tokenSha256", "apiKeyId", "expiresAtNs" ON "Credential" FOR EACH ROW
  WHEN (OLD."apiKeyId" IS NOT NULL AND (OLD."tokenSha256", OLD."apiKeyId", OLD."expiresAtNs")
    IS DISTINCT FROM (NEW."tokenSha256", NEW."apiKeyId", NEW."expiresAtNs"))
  EXECUTE FUNCTION downlink_end_view_links();
CREATE TRIGGER "Credential_ends_its_view_links" AFTER DELETE ON "Credential" FOR EACH ROW WHEN (OLD."apiKeyId" IS NOT NULL)
  EXECUTE FUNCTION downlink_end_view_links();
