-- Requests that wait for their devices, in the order in which agents are asked for them: of an organization, a device and an agent.
CREATE INDEX "ImportRequest_orgId_queue" ON "ImportRequest"("orgId", (-"priority"), "createdAtNs", "id") WHERE "state" = 'awaiting' AND "source" = 'edge';
CREATE INDEX "ImportRequest_deviceId_queue" ON "ImportRequest"("deviceId", (-"priority"), "createdAtNs", "id") WHERE "state" = 'awaiting' AND "source" = 'edge';
CREATE INDEX "ImportRequest_agentId_queue" ON "ImportRequest"("agentId", (-"priority"), "createdAtNs", "id") WHERE "state" = 'awaiting' AND "source" = 'edge';
