-- Who was removed stays so after a restore, and an invitation that was used or withdrawn lets nobody in again. The ledger has only their ids:
-- names, addresses and hashes go nowhere else.
CREATE FUNCTION downlink_note_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF coalesce(current_setting('downlink.replays', true), '') <> 'on' THEN
    INSERT INTO "LedgerEntry" ("id", "kind", "subject", "data")
      VALUES (downlink_ledger_id(), TG_TABLE_NAME || '.delete', OLD."id", jsonb_build_object('id', OLD."id"));
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER "Member_ledger" AFTER DELETE ON "Member" FOR EACH ROW EXECUTE FUNCTION downlink_note_deleted();
CREATE TRIGGER "Account_ledger" AFTER DELETE ON "Account" FOR EACH ROW EXECUTE FUNCTION downlink_note_deleted();
CREATE TRIGGER "Invitation_ledger" AFTER DELETE ON "Invitation" FOR EACH ROW EXECUTE FUNCTION downlink_note_deleted();

-- Who is no admin any more is none after a restore.
CREATE FUNCTION downlink_note_role() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF coalesce(current_setting('downlink.replays', true), '') <> 'on' THEN
    INSERT INTO "LedgerEntry" ("id", "kind", "subject", "data")
      VALUES (downlink_ledger_id(), 'Member.update', NEW."id", jsonb_build_object('id', NEW."id", 'role', NEW."role"));
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER "Member_role_ledger" AFTER UPDATE ON "Member" FOR EACH ROW WHEN (NEW."role" <> OLD."role")
  EXECUTE FUNCTION downlink_note_role();
