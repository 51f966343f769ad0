/** The kinds of things whose changes are entries of the audit log. */
export const auditedKinds = [
  "agentSettings",
  "apiKey",
  "customProperty",
  "deployment",
  "device",
  "deviceToken",
  "eventType",
  "extension",
  "inboxToken",
  "ingestPathPolicy",
  "invitation",
  "member",
  "organization",
  "project",
  "session",
  "site",
  "siteToken",
  "webhook",
] as const;

export type AuditedKind = (typeof auditedKinds)[number];
