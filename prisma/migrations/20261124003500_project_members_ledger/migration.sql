-- A project that was closed stays so after a restore, and has the members that it had last. One entry says who they all are, however many
-- change at once. What a deleted member or project takes with it is not noted, because its own entry takes it again.
CREATE FUNCTION downlink_note_project_members() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER "ProjectMember_insert_ledger" AFTER INSERT ON "ProjectMember" REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION downlink_note_project_members();
CREATE TRIGGER "ProjectMember_delete_ledger" AFTER DELETE ON "ProjectMember" REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION downlink_note_project_members();

CREATE FUNCTION downlink_note_closed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF coalesce(current_setting('downlink.replays', true), '') <> 'on' THEN
    INSERT INTO "LedgerEntry" ("id", "kind", "subject", "data") VALUES
      (downlink_ledger_id(), 'Project.update', NEW."id", jsonb_build_object('id', NEW."id", 'isInviteOnly', NEW."isInviteOnly"));
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER "Project_closed_ledger" AFTER UPDATE ON "Project" FOR EACH ROW WHEN (NEW."isInviteOnly" <> OLD."isInviteOnly")
  EXECUTE FUNCTION downlink_note_closed();
