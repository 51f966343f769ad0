-- CreateTable
CREATE TABLE "AuditEntry" (
    "id" TEXT NOT NULL,
    "orgId" TEXT,
    "atNs" BIGINT NOT NULL,
    "operation" TEXT NOT NULL,
    "resourceKind" TEXT NOT NULL,
    "resourceId" TEXT NOT NULL,
    "actorKind" TEXT NOT NULL,
    "actorId" TEXT,
    "actorName" TEXT,
    "address" TEXT,
    "requestId" TEXT,
    "before" JSONB,
    "after" JSONB,

    CONSTRAINT "AuditEntry_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "AuditEntry_orgId_atNs_id_idx" ON "AuditEntry"("orgId", "atNs", "id");

-- CreateIndex
CREATE INDEX "AuditEntry_atNs_idx" ON "AuditEntry"("atNs");

ALTER TABLE "AuditEntry" ADD CONSTRAINT "AuditEntry_actorKind_is_known"
  CHECK ("actorKind" IN ('apiKey', 'member', 'agent', 'site', 'commandLine'));
