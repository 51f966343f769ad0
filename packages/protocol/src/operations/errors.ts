import { z } from "zod";
import { MissingData } from "../shapes/summaries.ts";
import { knownText } from "../shapes/text.ts";

interface ErrorMeaning {
  readonly status: number;
  readonly meaning: string;
}

/** Every `code` that an error body may carry, with its HTTP status and meaning. The set is closed, so that clients may switch on it. */
export const errorCodes = {
  InvalidRequest: { status: 400, meaning: "The request failed validation; `details` names each place." },
  MalformedRequest: { status: 400, meaning: "The request line, a header or the host is not HTTP." },
  MalformedJson: { status: 400, meaning: "The body is not JSON." },
  ProjectRequired: { status: 400, meaning: "The organization has several projects and `projectId` is missing." },
  OrganizationRequired: {
    status: 400,
    meaning: "The account is a member of several organizations: sign in again with one of `organizations`.",
  },
  AmbiguousName: { status: 400, meaning: "Several projects have the name or key; give `projectId`." },
  CursorRejected: {
    status: 400,
    meaning: "The cursor does not belong to this query: ask again without one.",
  },
  InvalidLink: { status: 400, meaning: "The link's text is not one that this server made." },
  DigestMismatch: { status: 400, meaning: "The bytes received differ from the announced length or digest." },
  BagUnavailable: { status: 400, meaning: "A bag can be exported only from a recording uploaded as `.bag`." },
  Unauthenticated: { status: 401, meaning: "No credential, or one that is unknown, disabled or revoked." },
  MissingCapability: { status: 403, meaning: "The key is known but lacks the operation's capability." },
  ProjectLimited: {
    status: 403,
    meaning: "The key is limited to some projects, and this is the whole organization's to change or to know.",
  },
  WrongCredentialKind: { status: 403, meaning: "The credential is valid, but of a kind this operation does not take." },
  DeviceDisabled: { status: 403, meaning: "The device is disabled; an admin can enable it." },
  AuthorizationPending: { status: 403, meaning: "The program's sign-in is not approved yet; ask again later." },
  SignInRefused: {
    status: 403,
    meaning: "This way of signing in is off here, or the person was not invited; the sentence says which.",
  },
  OriginRefused: {
    status: 403,
    meaning: "A change by cookie, or a sign-in, needs the `Origin` of this service's own pages.",
  },
  NotificationRefused: {
    status: 403,
    meaning: "The notification token was not made for this topic, audience, provider or bucket.",
  },
  DeviceTokenUnassociated: { status: 403, meaning: "The device token belongs to no device." },
  LinkExpired: {
    status: 403,
    meaning: "The link has expired, or the API key or session that made it has ended; ask for a new one.",
  },
  LinkRefused: { status: 403, meaning: "The link's signature does not match its method and target." },
  NotFound: { status: 404, meaning: "Unknown, or not visible to the caller's organization and projects." },
  NoStreamableRecordings: { status: 404, meaning: "The selection holds no imported recording to stream." },
  MethodNotAllowed: { status: 405, meaning: "The path takes other methods; `Allow` names them." },
  HeadersTimeout: { status: 408, meaning: "The headers were not whole in time; nothing was done." },
  BodyTimeout: { status: 408, meaning: "The body stood still or came too slowly; nothing was done." },
  PreconditionFailed: {
    status: 412,
    meaning: "The thing has not the `ETag` that `If-Match` names; nothing was changed.",
  },
  NameTaken: { status: 409, meaning: "Another one has this name or key already." },
  Conflict: { status: 409, meaning: "The state of the resource does not allow this; the sentence says which." },
  DeviceNotEmpty: { status: 409, meaning: "The device still has data; delete that first." },
  IdempotencyConflict: {
    status: 409,
    meaning:
      "The `Idempotency-Key` was used for another request, or its first call is under way: wait for `Retry-After`.",
  },
  SecretAlreadyShown: {
    status: 409,
    meaning: "The first call with this `Idempotency-Key` made it, and its answer had a secret that is shown once.",
  },
  LinkUsed: { status: 409, meaning: "The upload link was used already." },
  LeaseHeldElsewhere: { status: 409, meaning: "Another agent works with this token at the moment." },
  LeaseLost: { status: 409, meaning: "A newer agent took over; this one must say hello again." },
  Cloned: { status: 409, meaning: "Two agents keep taking each other's lease: a state directory was copied." },
  ReportSuperseded: { status: 409, meaning: "A later report of this agent came first; this one changed nothing." },
  RequestSuperseded: { status: 409, meaning: "The import request was cancelled, ended or replaced." },
  VersionSuperseded: { status: 409, meaning: "The file version is not the one that is wanted." },
  UploadClosed: { status: 409, meaning: "This upload takes no more parts; open the current one." },
  InDataset: {
    status: 409,
    meaning:
      "The data is the last copy, and a committed dataset version holds it; `force=true` deletes it all the same.",
  },
  Incomplete: {
    status: 409,
    meaning:
      "Some of the selected recordings cannot be streamed, and `requireComplete` was asked for; `missing` lists them.",
  },
  PartsMissing: { status: 409, meaning: "Not every part is stored; the sentence names the first one missing." },
  QuotaReached: {
    status: 409,
    meaning:
      "The organization has as much as its deployment allows it; the sentence has the figure. With status 507 where it is stored bytes.",
  },
  BodyTooLarge: { status: 413, meaning: "The body is over the limit." },
  UnsupportedMediaType: { status: 415, meaning: "The body has the wrong media type." },
  RangeNotSatisfiable: { status: 416, meaning: "The range lies outside of the object." },
  HeadersTooLarge: { status: 431, meaning: "The request line and the headers are over the limit." },
  RateLimited: { status: 429, meaning: "Too many requests; wait for `Retry-After` seconds." },
  Internal: { status: 500, meaning: "A fault of the server; quote the `X-Request-Id`." },
  SiteUnavailable: {
    status: 503,
    meaning:
      "The self-hosted site that has the data, or that is to get it, cannot be reached; the sentence says why. With status 409 until it was set up.",
  },
  Unavailable: {
    status: 503,
    meaning: "Not ready, shutting down, or a dependency is away; retry after `Retry-After`.",
  },
  StorageFull: { status: 507, meaning: "The server's storage is full; nothing was acknowledged." },
} as const satisfies Record<string, ErrorMeaning>;

export type ErrorCode = keyof typeof errorCodes;

export const ErrorBody = z
  .object({
    error: z.string(),
    code: knownText(Object.keys(errorCodes)),
    details: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    missing: MissingData.optional().meta({ description: "With `Incomplete` and `NoStreamableRecordings`" }),
    organizations: z
      .array(z.object({ id: z.string(), name: z.string() }))
      .optional()
      .meta({ description: "With `OrganizationRequired`: the first twenty that who signs in is a member of" }),
  })
  .meta({ id: "Error" });
export type ErrorBody = z.infer<typeof ErrorBody>;
