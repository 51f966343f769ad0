-- A view link ends with what its maker may do. A change that takes this from a key removes its links in the same transaction: no writer can
-- forget it, and a key that is enabled again does not bring them back. `packages/cloud/src/data/view-links/` makes the links.

CREATE OR REPLACE FUNCTION downlink_end_view_links() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_TABLE_NAME = 'ApiKey' THEN
    DELETE FROM "ViewLink" WHERE "apiKeyId" = OLD."id";
  ELSE
    DELETE FROM "ViewLink" WHERE "apiKeyId" = OLD."apiKeyId";
  END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER "ApiKey_ends_view_links" AFTER UPDATE OF "enabled", "capabilities", "projectIds" ON "ApiKey" FOR EACH ROW
  WHEN (NOT NEW."enabled" OR NOT NEW."capabilities" && ARRAY['*', 'viewLinks.create'] OR OLD."projectIds" <> NEW."projectIds")
  EXECUTE FUNCTION downlink_end_view_links();
CREATE OR REPLACE TRIGGER "Credential_ends_its_view_links" AFTER DELETE ON "Credential" FOR EACH ROW WHEN (OLD."apiKeyId" IS NOT NULL)
  EXECUTE FUNCTION downlink_end_view_links();
CREATE OR REPLACE TRIGGER "Credential_ends_view_links" AFTER UPDATE OF "tokenSha256", "apiKeyId", "expiresAtNs" ON "Credential" FOR EACH ROW
  WHEN (OLD."apiKeyId" IS NOT NULL AND (OLD."tokenSha256", OLD."apiKeyId", OLD."expiresAtNs")
    IS DISTINCT FROM (NEW."tokenSha256", NEW."apiKeyId", NEW."expiresAtNs"))
  EXECUTE FUNCTION downlink_end_view_links();
