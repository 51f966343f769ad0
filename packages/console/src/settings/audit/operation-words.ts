import type { AuditEntry } from "@downlink/protocol";

const NOUNS: Readonly<Record<string, string>> = {
  agentSettings: "Agent settings",
  apiKeys: "API key",
  attachments: "Attachment",
  customProperties: "Property",
  datasetVersions: "Dataset version",
  datasets: "Dataset",
  deviceTokens: "Device token",
  devices: "Device",
  episodes: "Episode",
  eventTypes: "Event type",
  events: "Event",
  exports: "Export",
  extensions: "Extension",
  imports: "Imported data",
  inboxTokens: "Inbox token",
  invitations: "Invitation",
  layouts: "Layout",
  members: "Member",
  pendingImports: "Stored file",
  projects: "Project",
  recordingFiles: "File of a recording",
  recordings: "Imported data",
  savedViews: "Saved view",
  sessions: "Session of recordings",
  siteTokens: "Site token",
  sites: "Site",
  trainingSets: "Training set",
  viewLinks: "View link",
  webhooks: "Webhook",
};

const VERBS: Readonly<Record<string, string>> = {
  commit: "committed",
  create: "made",
  delete: "deleted",
  deleteMany: "deleted",
  disable: "disabled",
  discard: "discarded before its commit",
  download: "downloaded",
  link: "handed out by a link",
  put: "changed",
  releaseAgent: "released from being cloned",
  restore: "restored",
  stream: "handed out by a link",
  update: "changed",
};

/** Operations whose words are not made of a noun and a verb. */
const WHOLE: Readonly<Record<string, string>> = {
  "agentSettings.putOfSite": "Agent settings of a site changed",
  "create-org": "Organization made",
  "devices.setPastProperty": "Property of a device set for the past",
  "edge.enroll": "Agent enrolled",
  "exports.create": "Data sent out",
  "ingestPathPolicies.save": "Path rules of a bucket changed",
  limits: "Limits changed",
  "me.changePassword": "Password changed",
  "me.endSession": "Sign-in ended",
  "me.endSessions": "All sign-ins of a user ended",
  "members erase": "Person erased",
  "members.delete": "Member removed",
  "members.resetPassword": "Link for a new password made",
  "projectMembers.put": "Members of a project changed",
  "session.accept": "Invitation accepted",
  "session.begin": "Signed in",
  "session.decideDeviceCode": "Program let in or turned away",
  "session.end": "Signed out",
  "session.finishAtProvider": "Joined by the identity provider",
  "session.resetPassword": "Password set by a link",
  "site create-byob": "Site of a bucket made",
  "site indexing": "Indexing of a site changed",
  "site prove-deletions": "Proof of deletions changed",
  "sites.revokeKeys": "Signing keys of a site revoked",
  "webhooks.ping": "Ping sent to a webhook",
  "webhooks.retryDelivery": "Delivery of a webhook sent again",
  "webhooks.retryFailed": "Failed deliveries of a webhook sent again",
  "webhooks.rotateSecret": "Secret of a webhook replaced",
};

/** Returns the words for an operation of the audit log: `Invitation made` for `invitations.create`. A name that has none is returned as it is. */
export function operationWords(operation: string): string {
  if (Object.hasOwn(WHOLE, operation)) return WHOLE[operation]!;
  const [resource = "", deed = ""] = operation.split(".");
  if (!Object.hasOwn(NOUNS, resource) || !Object.hasOwn(VERBS, deed)) return operation;
  return `${NOUNS[resource]} ${VERBS[deed]}`;
}

/** Returns the words for a kind of resource or actor: `custom property` for `customProperty`. */
export function kindWords(kind: string): string {
  if (kind === "apiKey") return "API key";
  return kind.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** Returns the words for what an entry is about: of data that was sent out, the recordings, because it has no id of its own. */
export function resourceText({
  resourceKind,
  resourceId,
  after,
}: Pick<AuditEntry, "resourceKind" | "resourceId" | "after">) {
  const sent = resourceKind === "export" ? SELECTORS.find(([field]) => typeof after?.[field] === "string") : undefined;
  return sent ? `${sent[1]} ${String(after?.[sent[0]])}` : `${kindWords(resourceKind)} ${resourceId}`;
}

const SELECTORS = [
  ["recordingId", "recording"],
  ["recordingKey", "recording"],
  ["episodeId", "episode"],
  ["sessionId", "session"],
  ["sessionKey", "session"],
  ["deviceName", "device"],
  ["deviceId", "device"],
  ["importId", "import"],
] as const;
