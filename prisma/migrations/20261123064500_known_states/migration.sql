-- What each column of states may hold: the lists of prisma/schema, which src/db/states.test.ts compares with these.
-- NOT VALID: what is written from now on is checked, and no table is read through. Every row that is there was written by code that
-- knew only these, and an upgrade must not end because of one that was not.
ALTER TABLE "EdgeFile" ADD CONSTRAINT "EdgeFile_state_is_known"
  CHECK ("state" IN ('indexed', 'settling', 'incomplete', 'damaged', 'empty', 'unassigned', 'unreadable')) NOT VALID;
ALTER TABLE "SalvageRequest" ADD CONSTRAINT "SalvageRequest_state_is_known"
  CHECK ("state" IN ('requested', 'made', 'failed', 'gone', 'superseded')) NOT VALID;
ALTER TABLE "CustomProperty" ADD CONSTRAINT "CustomProperty_resourceType_is_known"
  CHECK ("resourceType" IN ('device', 'event', 'session')) NOT VALID;
ALTER TABLE "CustomProperty" ADD CONSTRAINT "CustomProperty_valueType_is_known"
  CHECK ("valueType" IN ('string', 'multiline-string', 'number', 'enum', 'boolean', 'multi-enum')) NOT VALID;
ALTER TABLE "ImportRequest" ADD CONSTRAINT "ImportRequest_source_is_known"
  CHECK ("source" IN ('upload', 'edge', 'salvage')) NOT VALID;
ALTER TABLE "ImportRequest" ADD CONSTRAINT "ImportRequest_state_is_known"
  CHECK ("state" IN ('awaiting', 'received', 'processing', 'ready for indexing', 'complete', 'error', 'cancelled')) NOT VALID;
ALTER TABLE "Upload" ADD CONSTRAINT "Upload_kind_is_known"
  CHECK ("kind" IN ('parts', 'stream')) NOT VALID;
ALTER TABLE "Upload" ADD CONSTRAINT "Upload_state_is_known"
  CHECK ("state" IN ('open', 'stored', 'abandoned', 'removed')) NOT VALID;
ALTER TABLE "Layout" ADD CONSTRAINT "Layout_permission_is_known"
  CHECK ("permission" IN ('CREATOR_WRITE', 'ORG_READ', 'ORG_WRITE')) NOT VALID;
ALTER TABLE "Site" ADD CONSTRAINT "Site_type_is_known"
  CHECK ("type" IN ('service-hosted', 'self-hosted', 'edge', 'byob')) NOT VALID;
ALTER TABLE "Recording" ADD CONSTRAINT "Recording_format_is_known"
  CHECK ("format" IN ('mcap', 'bag1')) NOT VALID;
ALTER TABLE "Recording" ADD CONSTRAINT "Recording_importStatus_is_known"
  CHECK ("importStatus" IN ('none', 'pending', 'importing', 'failed', 'complete')) NOT VALID;
ALTER TABLE "Import" ADD CONSTRAINT "Import_format_is_known"
  CHECK ("format" IN ('mcap', 'bag1')) NOT VALID;
