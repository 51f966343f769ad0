/** What an API key may be allowed to do. `["*"]` on a key means everything. */
export const capabilities = [
  "data.coverage.list",
  "data.imports.pending.list",
  "data.stream",
  "data.topics.list",
  "data.upload",
  "deviceTokens.create",
  "deviceTokens.delete",
  "deviceTokens.list",
  "deviceTokens.update",
  "devices.create",
  "devices.delete",
  "devices.list",
  "devices.update",
  "projects.create",
  "projects.list",
  "projects.update",
  "recordings.delete",
  "recordings.list",
] as const;

export type Capability = (typeof capabilities)[number];
export const everyCapability = "*";
