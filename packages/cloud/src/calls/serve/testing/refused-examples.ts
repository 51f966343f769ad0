/**
 * The code with which an operation is refused in the test of the documented examples, because it needs more than ids and links of things that
 * exist. The document has these answers.
 */
export const refusals: Readonly<Record<string, string>> = {
  // It needs other states of things.
  "pendingImports.salvage": "Conflict",
  "datasetVersions.commit": "Conflict",
  "episodes.delete": "Conflict",
  "members.delete": "Conflict",
  "recordings.cancelImport": "Conflict",
  "devices.delete": "DeviceNotEmpty",
  "imports.delete": "NotFound",
  "pendingImports.download": "NotFound",
  "recordingFiles.download": "NotFound",
  "lakeFiles.list": "InvalidRequest",
  // It needs the id of something that is not made here.
  "devices.getPropertyInterval": "NotFound",
  "webhooks.retryDelivery": "NotFound",
  "site.selection": "LinkExpired",
  "partUploads.create": "InvalidRequest",
  ...refused("partUploads", "UploadClosed", ["grantParts", "grantPieces", "composePart", "complete"]),
  ...refused("edge", "UploadClosed", ["grantPieces", "composePart"]),
  "edge.requestImports": "NotFound",
  "edge.failImport": "VersionSuperseded",
  "edge.failCut": "NotFound",
  "edge.failSalvage": "NotFound",
  ...refused("dataPlane", "InvalidLink", ["uploadPiece"]),
  // It needs a real bucket, and the process of a self-hosted site.
  "ingestPathPolicies.tryOut": "NotFound",
  "bucketNotifications.create": "Conflict",
  "bucketNotifications.receive": "Unauthenticated",
  ...refused("siteUploads", "NotFound", ["open", "grantParts", "grantPieces", "composePart", "complete"]),
  // It needs the browser of a member, or a provider.
  "me.changePassword": "WrongCredentialKind",
  "me.endSession": "NotFound",
  ...refused("session", "SignInRefused", ["beginAtProvider", "finishAtProvider"]),
};

function refused(tag: string, code: string, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [`${tag}.${name}`, code]));
}
