-- The ledger notes what must outlive a restored backup: who and what exists, and what was taken away since. A trigger notes it in the
-- transaction of the change, so that no writer can forget it. `packages/cloud/src/recovery/` sends the entries to the store, and
-- `packages/cloud/src/restoring/replay/` replays them; a replay sets `downlink.replays`, under which nothing is noted again. Of people the
-- ledger has ids alone: names, addresses, hashes and secrets go nowhere else.

-- Entries sort by their ids in the order of time.
CREATE OR REPLACE FUNCTION downlink_ledger_id() RETURNS text LANGUAGE sql VOLATILE AS $$
  SELECT lpad(((extract(epoch FROM clock_timestamp()) * 1000000000)::bigint)::text, 19, '0') || '-' || left(replace(gen_random_uuid()::text, '-', ''), 16)
$$;

-- Rows that are noted whole.
CREATE OR REPLACE FUNCTION downlink_write_ledger() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  data jsonb := to_jsonb(CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END);
BEGIN
  IF coalesce(current_setting('downlink.replays', true), '') <> 'on' THEN
    INSERT INTO "LedgerEntry" ("id", "kind", "subject", "data")
      VALUES (downlink_ledger_id(), TG_TABLE_NAME || '.' || lower(TG_OP),
        coalesce(data ->> 'id', data ->> 'tokenSha256', data ->> 'siteId'), data);
  END IF;
  RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER "ApiKey_ledger" AFTER INSERT OR UPDATE OR DELETE ON "ApiKey" FOR EACH ROW EXECUTE FUNCTION downlink_write_ledger();
CREATE OR REPLACE TRIGGER "Backup_ledger" AFTER INSERT ON "Backup" FOR EACH ROW EXECUTE FUNCTION downlink_write_ledger();
CREATE OR REPLACE TRIGGER "Credential_ledger" AFTER INSERT OR DELETE ON "Credential" FOR EACH ROW EXECUTE FUNCTION downlink_write_ledger();
CREATE OR REPLACE TRIGGER "DeviceToken_ledger" AFTER INSERT OR UPDATE OR DELETE ON "DeviceToken" FOR EACH ROW EXECUTE FUNCTION downlink_write_ledger();
CREATE OR REPLACE TRIGGER "Device_ledger" AFTER INSERT OR DELETE ON "Device" FOR EACH ROW EXECUTE FUNCTION downlink_write_ledger();
CREATE OR REPLACE TRIGGER "InboxToken_ledger" AFTER INSERT OR DELETE ON "InboxToken" FOR EACH ROW EXECUTE FUNCTION downlink_write_ledger();
CREATE OR REPLACE TRIGGER "IngestPathPolicy_ledger" AFTER INSERT ON "IngestPathPolicy" FOR EACH ROW EXECUTE FUNCTION downlink_write_ledger();
CREATE OR REPLACE TRIGGER "Organization_ledger" AFTER INSERT OR DELETE ON "Organization" FOR EACH ROW EXECUTE FUNCTION downlink_write_ledger();
CREATE OR REPLACE TRIGGER "Project_ledger" AFTER INSERT OR DELETE ON "Project" FOR EACH ROW EXECUTE FUNCTION downlink_write_ledger();
CREATE OR REPLACE TRIGGER "SiteBucket_ledger" AFTER INSERT ON "SiteBucket" FOR EACH ROW EXECUTE FUNCTION downlink_write_ledger();
CREATE OR REPLACE TRIGGER "SiteToken_ledger" AFTER INSERT OR DELETE ON "SiteToken" FOR EACH ROW EXECUTE FUNCTION downlink_write_ledger();
CREATE OR REPLACE TRIGGER "Site_ledger" AFTER INSERT OR DELETE ON "Site" FOR EACH ROW EXECUTE FUNCTION downlink_write_ledger();

-- Removed people and used invitations stay removed.
CREATE OR REPLACE FUNCTION downlink_note_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF coalesce(current_setting('downlink.replays', true), '') <> 'on' THEN
    INSERT INTO "LedgerEntry" ("id", "kind", "subject", "data")
      VALUES (downlink_ledger_id(), TG_TABLE_NAME || '.delete', OLD."id", jsonb_build_object('id', OLD."id"));
  END IF;
  RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER "Account_ledger" AFTER DELETE ON "Account" FOR EACH ROW EXECUTE FUNCTION downlink_note_deleted();
CREATE OR REPLACE TRIGGER "Invitation_ledger" AFTER DELETE ON "Invitation" FOR EACH ROW EXECUTE FUNCTION downlink_note_deleted();
CREATE OR REPLACE TRIGGER "Member_ledger" AFTER DELETE ON "Member" FOR EACH ROW EXECUTE FUNCTION downlink_note_deleted();

-- An admin who became something else is no admin after a restore.
CREATE OR REPLACE FUNCTION downlink_note_role() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF coalesce(current_setting('downlink.replays', true), '') <> 'on' THEN
    INSERT INTO "LedgerEntry" ("id", "kind", "subject", "data")
      VALUES (downlink_ledger_id(), 'Member.update', NEW."id", jsonb_build_object('id', NEW."id", 'role', NEW."role"));
  END IF;
  RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER "Member_role_ledger" AFTER UPDATE ON "Member" FOR EACH ROW WHEN (NEW."role" <> OLD."role")
  EXECUTE FUNCTION downlink_note_role();

-- A password that was replaced opens nothing: the account has none then, until an admin gives its holder a link.
CREATE OR REPLACE FUNCTION downlink_note_password() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF coalesce(current_setting('downlink.replays', true), '') <> 'on' THEN
    INSERT INTO "LedgerEntry" ("id", "kind", "subject", "data")
      VALUES (downlink_ledger_id(), 'Account.update', NEW."id", jsonb_build_object('id', NEW."id", 'passwordHash', NULL));
  END IF;
  RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER "Account_password_ledger" AFTER UPDATE ON "Account" FOR EACH ROW
  WHEN (NEW."passwordHash" IS DISTINCT FROM OLD."passwordHash") EXECUTE FUNCTION downlink_note_password();

-- A project that was closed stays closed, and has the members that it had last. One entry names all of them, however many change at once.
-- A deleted member or project has an entry of its own, so that what goes with it needs none.
CREATE OR REPLACE FUNCTION downlink_note_closed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF coalesce(current_setting('downlink.replays', true), '') <> 'on' THEN
    INSERT INTO "LedgerEntry" ("id", "kind", "subject", "data") VALUES
      (downlink_ledger_id(), 'Project.update', NEW."id", jsonb_build_object('id', NEW."id", 'isInviteOnly', NEW."isInviteOnly"));
  END IF;
  RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER "Project_closed_ledger" AFTER UPDATE ON "Project" FOR EACH ROW WHEN (NEW."isInviteOnly" <> OLD."isInviteOnly")
  EXECUTE FUNCTION downlink_note_closed();

CREATE OR REPLACE FUNCTION downlink_note_project_members() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF coalesce(current_setting('downlink.replays', true), '') <> 'on' THEN
    INSERT INTO "LedgerEntry" ("id", "kind", "subject", "data")
      SELECT downlink_ledger_id(), 'ProjectMembers.put', c."projectId", jsonb_build_object('memberIds', ARRAY(
        SELECT m."memberId" FROM "ProjectMember" m WHERE m."projectId" = c."projectId" ORDER BY m."memberId"))
      FROM (SELECT DISTINCT "projectId" FROM changed) c;
  END IF;
  RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER "ProjectMember_delete_ledger" AFTER DELETE ON "ProjectMember" REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION downlink_note_project_members();
CREATE OR REPLACE TRIGGER "ProjectMember_insert_ledger" AFTER INSERT ON "ProjectMember" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION downlink_note_project_members();

-- A deleted webhook stays deleted.
CREATE OR REPLACE FUNCTION downlink_note_deleted_webhook() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF coalesce(current_setting('downlink.replays', true), '') <> 'on' THEN
    INSERT INTO "LedgerEntry" ("id", "kind", "subject", "data")
      VALUES (downlink_ledger_id(), 'Webhook.delete', OLD."id", jsonb_build_object('id', OLD."id"));
  END IF;
  RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER "Webhook_ledger" AFTER DELETE ON "Webhook" FOR EACH ROW EXECUTE FUNCTION downlink_note_deleted_webhook();
