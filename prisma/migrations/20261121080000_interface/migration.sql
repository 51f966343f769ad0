-- DropIndex
DROP INDEX "Session_projectId_key_key";

-- DropIndex
DROP INDEX "ApiKey_orgId_idx";

-- AlterTable
ALTER TABLE "ApiKey" ALTER COLUMN "projectIds" SET DEFAULT ARRAY[]::TEXT[];

-- AlterTable
ALTER TABLE "Device" ADD COLUMN     "properties" JSONB NOT NULL DEFAULT '{}';

-- AlterTable
ALTER TABLE "Session" ADD COLUMN     "deletedAtNs" BIGINT,
ADD COLUMN     "properties" JSONB NOT NULL DEFAULT '{}';

-- AlterTable
ALTER TABLE "Site" ADD COLUMN     "retainRecordingsSeconds" DOUBLE PRECISION,
ADD COLUMN     "url" TEXT;

-- CreateTable
CREATE TABLE "DevicePropertyInterval" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "deviceId" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "value" JSONB NOT NULL,
    "startNs" BIGINT NOT NULL,
    "endNs" BIGINT,

    CONSTRAINT "DevicePropertyInterval_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "CustomProperty" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "label" TEXT NOT NULL,
    "resourceType" TEXT NOT NULL,
    "valueType" TEXT NOT NULL,
    "enumValues" TEXT[],
    "createdAtNs" BIGINT NOT NULL,

    CONSTRAINT "CustomProperty_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "EventType" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "colorName" TEXT,
    "createdAtNs" BIGINT NOT NULL,
    "updatedAtNs" BIGINT NOT NULL,

    CONSTRAINT "EventType_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "EventTypeProperty" (
    "eventTypeId" TEXT NOT NULL,
    "customPropertyId" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "isRequired" BOOLEAN NOT NULL,

    CONSTRAINT "EventTypeProperty_pkey" PRIMARY KEY ("eventTypeId","customPropertyId")
);

-- CreateTable
CREATE TABLE "Event" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "projectId" TEXT NOT NULL,
    "deviceId" TEXT NOT NULL,
    "eventTypeId" TEXT,
    "startNs" BIGINT NOT NULL,
    "endNs" BIGINT NOT NULL,
    "metadata" JSONB NOT NULL,
    "properties" JSONB NOT NULL DEFAULT '{}',
    "createdAtNs" BIGINT NOT NULL,
    "updatedAtNs" BIGINT NOT NULL,

    CONSTRAINT "Event_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Layout" (
    "orgId" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "folderName" TEXT,
    "permission" TEXT NOT NULL,
    "data" TEXT NOT NULL,
    "savedAtNs" BIGINT,
    "createdAtNs" BIGINT NOT NULL,
    "updatedAtNs" BIGINT NOT NULL,
    "deletedAtNs" BIGINT,

    CONSTRAINT "Layout_pkey" PRIMARY KEY ("orgId","id")
);

-- CreateTable
CREATE TABLE "Extension" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "publisher" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "identity" TEXT NOT NULL,
    "displayName" TEXT NOT NULL,
    "description" TEXT,
    "activeVersionId" TEXT,
    "createdAtNs" BIGINT NOT NULL,
    "updatedAtNs" BIGINT NOT NULL,

    CONSTRAINT "Extension_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ExtensionVersion" (
    "id" TEXT NOT NULL,
    "extensionId" TEXT NOT NULL,
    "version" TEXT NOT NULL,
    "sha256" TEXT NOT NULL,
    "sizeBytes" BIGINT NOT NULL,
    "blobKey" TEXT NOT NULL,
    "createdAtNs" BIGINT NOT NULL,

    CONSTRAINT "ExtensionVersion_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "SiteToken" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "siteId" TEXT NOT NULL,
    "tokenSha256" TEXT NOT NULL,
    "createdAtNs" BIGINT NOT NULL,

    CONSTRAINT "SiteToken_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "InboxToken" (
    "id" TEXT NOT NULL,
    "orgId" TEXT NOT NULL,
    "siteId" TEXT NOT NULL,
    "tokenSha256" TEXT NOT NULL,
    "createdAtNs" BIGINT NOT NULL,

    CONSTRAINT "InboxToken_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "Device_orgId_name_id_idx" ON "Device"("orgId", "name", "id");

-- CreateIndex
CREATE INDEX "Device_properties_idx" ON "Device" USING GIN ("properties");

-- CreateIndex
CREATE INDEX "DevicePropertyInterval_deviceId_key_startNs_idx" ON "DevicePropertyInterval"("deviceId", "key", "startNs");

-- CreateIndex
CREATE INDEX "DevicePropertyInterval_deviceId_startNs_id_idx" ON "DevicePropertyInterval"("deviceId", "startNs", "id");

-- CreateIndex
CREATE INDEX "DevicePropertyInterval_deviceId_id_idx" ON "DevicePropertyInterval"("deviceId", "id");

-- CreateIndex
CREATE INDEX "DevicePropertyInterval_orgId_key_idx" ON "DevicePropertyInterval"("orgId", "key");

-- CreateIndex
CREATE UNIQUE INDEX "CustomProperty_orgId_resourceType_key_key" ON "CustomProperty"("orgId", "resourceType", "key");

-- CreateIndex
CREATE UNIQUE INDEX "EventType_orgId_name_key" ON "EventType"("orgId", "name");

-- CreateIndex
CREATE INDEX "EventType_orgId_createdAtNs_id_idx" ON "EventType"("orgId", "createdAtNs", "id");

-- CreateIndex
CREATE INDEX "EventTypeProperty_customPropertyId_idx" ON "EventTypeProperty"("customPropertyId");

-- CreateIndex
CREATE INDEX "Event_orgId_createdAtNs_id_idx" ON "Event"("orgId", "createdAtNs", "id");

-- CreateIndex
CREATE INDEX "Event_orgId_updatedAtNs_id_idx" ON "Event"("orgId", "updatedAtNs", "id");

-- CreateIndex
CREATE INDEX "Event_orgId_startNs_id_idx" ON "Event"("orgId", "startNs", "id");

-- CreateIndex
CREATE INDEX "Event_deviceId_startNs_id_idx" ON "Event"("deviceId", "startNs", "id");

-- CreateIndex
CREATE INDEX "Event_deviceId_id_idx" ON "Event"("deviceId", "id");

-- CreateIndex
CREATE INDEX "Event_eventTypeId_idx" ON "Event"("eventTypeId");

-- CreateIndex
CREATE INDEX "Event_metadata_idx" ON "Event" USING GIN ("metadata");

-- CreateIndex
CREATE INDEX "Event_properties_idx" ON "Event" USING GIN ("properties");

-- CreateIndex
CREATE INDEX "ApiKey_orgId_createdAtNs_id_idx" ON "ApiKey"("orgId", "createdAtNs", "id");

-- CreateIndex
CREATE INDEX "Layout_orgId_createdAtNs_id_idx" ON "Layout"("orgId", "createdAtNs", "id");

-- CreateIndex
CREATE INDEX "Layout_orgId_updatedAtNs_idx" ON "Layout"("orgId", "updatedAtNs");

-- CreateIndex
CREATE UNIQUE INDEX "Extension_activeVersionId_key" ON "Extension"("activeVersionId");

-- CreateIndex
CREATE INDEX "Extension_orgId_createdAtNs_id_idx" ON "Extension"("orgId", "createdAtNs", "id");

-- CreateIndex
CREATE UNIQUE INDEX "Extension_orgId_identity_key" ON "Extension"("orgId", "identity");

-- CreateIndex
CREATE UNIQUE INDEX "ExtensionVersion_blobKey_key" ON "ExtensionVersion"("blobKey");

-- CreateIndex
CREATE UNIQUE INDEX "ExtensionVersion_extensionId_version_key" ON "ExtensionVersion"("extensionId", "version");

-- CreateIndex
CREATE UNIQUE INDEX "SiteToken_tokenSha256_key" ON "SiteToken"("tokenSha256");

-- CreateIndex
CREATE INDEX "SiteToken_orgId_createdAtNs_id_idx" ON "SiteToken"("orgId", "createdAtNs", "id");

-- CreateIndex
CREATE INDEX "SiteToken_siteId_idx" ON "SiteToken"("siteId");

-- CreateIndex
CREATE UNIQUE INDEX "InboxToken_tokenSha256_key" ON "InboxToken"("tokenSha256");

-- CreateIndex
CREATE INDEX "InboxToken_orgId_createdAtNs_id_idx" ON "InboxToken"("orgId", "createdAtNs", "id");

-- CreateIndex
CREATE INDEX "InboxToken_siteId_idx" ON "InboxToken"("siteId");

-- CreateIndex
CREATE INDEX "Session_orgId_key_idx" ON "Session"("orgId", "key");

-- CreateIndex
CREATE INDEX "Session_orgId_createdAtNs_id_idx" ON "Session"("orgId", "createdAtNs", "id");

-- CreateIndex
CREATE INDEX "Session_orgId_updatedAtNs_id_idx" ON "Session"("orgId", "updatedAtNs", "id");

-- CreateIndex
CREATE INDEX "Session_deviceId_idx" ON "Session"("deviceId");

-- CreateIndex
CREATE INDEX "Session_properties_idx" ON "Session" USING GIN ("properties");

-- AddForeignKey
ALTER TABLE "DevicePropertyInterval" ADD CONSTRAINT "DevicePropertyInterval_deviceId_fkey" FOREIGN KEY ("deviceId") REFERENCES "Device"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "EventTypeProperty" ADD CONSTRAINT "EventTypeProperty_eventTypeId_fkey" FOREIGN KEY ("eventTypeId") REFERENCES "EventType"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "EventTypeProperty" ADD CONSTRAINT "EventTypeProperty_customPropertyId_fkey" FOREIGN KEY ("customPropertyId") REFERENCES "CustomProperty"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Event" ADD CONSTRAINT "Event_projectId_fkey" FOREIGN KEY ("projectId") REFERENCES "Project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Event" ADD CONSTRAINT "Event_deviceId_fkey" FOREIGN KEY ("deviceId") REFERENCES "Device"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Event" ADD CONSTRAINT "Event_eventTypeId_fkey" FOREIGN KEY ("eventTypeId") REFERENCES "EventType"("id") ON DELETE NO ACTION ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Extension" ADD CONSTRAINT "Extension_activeVersionId_fkey" FOREIGN KEY ("activeVersionId") REFERENCES "ExtensionVersion"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ExtensionVersion" ADD CONSTRAINT "ExtensionVersion_extensionId_fkey" FOREIGN KEY ("extensionId") REFERENCES "Extension"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "SiteToken" ADD CONSTRAINT "SiteToken_siteId_fkey" FOREIGN KEY ("siteId") REFERENCES "Site"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "InboxToken" ADD CONSTRAINT "InboxToken_siteId_fkey" FOREIGN KEY ("siteId") REFERENCES "Site"("id") ON DELETE CASCADE ON UPDATE CASCADE;


-- What Prisma cannot say.
CREATE UNIQUE INDEX "Session_projectId_key_live" ON "Session"("projectId", "key") WHERE "deletedAtNs" IS NULL;

-- Events, and recordings of sessions, that touch a span of time; both ends inclusive. A range cannot include the last time
-- that 64 bits hold: its end would be one more.
CREATE EXTENSION IF NOT EXISTS btree_gist;
CREATE FUNCTION downlink_span("startNs" bigint, "endNs" bigint) RETURNS int8range
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN int8range(least("startNs", 9223372036854775806), least("endNs", 9223372036854775806), '[]');
CREATE INDEX "Event_orgId_span" ON "Event" USING gist ("orgId", downlink_span("startNs", "endNs"));
CREATE INDEX "Recording_orgId_span_in_session" ON "Recording" USING gist ("orgId", downlink_span("startNs", "endNs")) WHERE "sessionId" IS NOT NULL;

-- Parts of the keys and values of events, in any case.
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE INDEX "Event_metadata_text" ON "Event" USING gin (lower("metadata"::text) gin_trgm_ops);
CREATE INDEX "Event_properties_text" ON "Event" USING gin (lower("properties"::text) gin_trgm_ops);
CREATE INDEX "Device_properties_text" ON "Device" USING gin (lower("properties"::text) gin_trgm_ops);
CREATE INDEX "Session_properties_text" ON "Session" USING gin (lower("properties"::text) gin_trgm_ops);

-- Parts of session keys, in any case.
CREATE INDEX "Session_key_part" ON "Session" USING gin ("key" gin_trgm_ops) WHERE "deletedAtNs" IS NULL;

-- A list that was not given was stored as NULL, which no comparison finds.
UPDATE "ApiKey" SET "projectIds" = '{}' WHERE "projectIds" IS NULL;
ALTER TABLE "ApiKey" ALTER COLUMN "projectIds" SET NOT NULL, ALTER COLUMN "capabilities" SET NOT NULL;

-- The keys that may do everything: the last of an organization is kept.
CREATE INDEX "ApiKey_orgId_unlimited" ON "ApiKey"("orgId") WHERE "enabled" AND "projectIds" = '{}' AND '*' = ANY("capabilities");

-- A key of a device has one value at a time, each for some time.
CREATE UNIQUE INDEX "DevicePropertyInterval_deviceId_key_open" ON "DevicePropertyInterval"("deviceId", "key") WHERE "endNs" IS NULL;
ALTER TABLE "DevicePropertyInterval" ADD CONSTRAINT "DevicePropertyInterval_is_span" CHECK ("startNs" < "endNs");

-- The keys and stringified values of an object, lower case, parted by U+001F, which no query may hold:
-- what a bare search term is looked for in. The elements of an array are texts of their own.
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE FUNCTION downlink_search_text(object jsonb) RETURNS text
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 20
  RETURN (
    SELECT lower(string_agg(part, E'\x1f'))
    FROM (
      SELECT jsonb_object_keys(object) AS part
      UNION ALL
      SELECT element #>> '{}' FROM jsonb_path_query(object, '$.*[*]') AS element
    ) AS parts
  );
