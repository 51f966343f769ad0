-- CreateTable
CREATE TABLE "AgentPoint" (
    "agentId" TEXT NOT NULL,
    "atNs" BIGINT NOT NULL,
    "freeBytes" BIGINT,
    "bytesPerSecond" DOUBLE PRECISION NOT NULL,
    "problems" INTEGER NOT NULL,

    CONSTRAINT "AgentPoint_pkey" PRIMARY KEY ("agentId","atNs")
);

-- CreateIndex
CREATE INDEX "AgentPoint_atNs_idx" ON "AgentPoint" USING BRIN ("atNs");

-- AddForeignKey
ALTER TABLE "AgentPoint" ADD CONSTRAINT "AgentPoint_agentId_fkey" FOREIGN KEY ("agentId") REFERENCES "Agent"("id") ON DELETE CASCADE ON UPDATE CASCADE;
