/** The kinds of things that decide who may do what. */
const administrativeKinds = [
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

/** The kinds of data that are deleted, sent out, or changed by hand. */
const dataKinds = [
  "attachment",
  "dataset",
  "episode",
  "event",
  "export",
  "import",
  "importFile",
  "layout",
  "recording",
  "recordingSession",
  "savedView",
  "trainingSet",
  "viewLink",
] as const;

/** The kinds of things whose changes are entries of the audit log. */
export const auditedKinds = [...administrativeKinds, ...dataKinds] as const;

/** Says whether a change of such a thing may change what a caller may do. */
export function isAdministrative(kind: AuditedKind): boolean {
  return (administrativeKinds as readonly AuditedKind[]).includes(kind);
}

export type AuditedKind = (typeof auditedKinds)[number];
