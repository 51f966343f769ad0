import { z } from "zod";
import { DAMAGE_HEADER, MISSING_HEADER } from "../resources/exports.ts";
import { AnyObject } from "../shapes/any-keys.ts";
import { inProject } from "../shapes/selectors.ts";
import { BYTES, type PlainRoute } from "./plain-route.ts";
import { deviceCodeRoutes, oidcRoutes, sessionRoutes } from "./sign-in-routes.ts";

const redirect = { 302: { description: "The signed link, in `Location`; good for 15 minutes" } };
const headers = ["ETag", "Accept-Ranges", "Content-Disposition"] as const;
const fileOf = (content: string) =>
  ({
    200: { description: "The bytes", content, headers },
    206: { description: "The bytes of the range that was asked for", content, headers: [...headers, "Content-Range"] },
    304: { description: "They are those that the caller has", headers },
  }) as const;
const streamed = {
  200: {
    description: "The bytes",
    content: BYTES,
    headers: [...headers, DAMAGE_HEADER, MISSING_HEADER],
  },
} as const;

const ofLink = z.string().meta({ description: "As it stands in the link" });
const byLink = { access: "link", query: z.object({ v: ofLink, k: ofLink, e: ofLink, c: ofLink, s: ofLink }) } as const;
const exported = { ...byLink, method: "get", refusals: [400, 403, 404, 409, 416] } as const;
const download = { ...exported, headers: ["If-None-Match", "Range", "If-Range"], answers: fileOf(BYTES) } as const;
const delivery = { ...byLink, method: "put", takes: BYTES } as const;
const stored = (content: z.ZodType) => ({ description: "Every byte is stored", content });

const Noted = z.object({
  success: z.literal(true).optional(),
  validationResponse: z.string().optional().meta({ description: "Instead, in the handshake of Event Grid" }),
});
const Live = z.object({ status: z.literal("live") });
const Disk = z.object({
  of: z.enum(["objects", "database"]),
  state: z.enum(["ok", "low", "full"]),
  freeBytes: z.number().min(0),
  totalBytes: z.number().min(0),
});
const Ready = z.object({
  status: z.literal("ready"),
  recovering: z.string().optional().meta({ description: "Why database and store are being compared after a restore" }),
  disks: z.array(Disk).optional(),
});

const ofService = { method: "get", access: "anybody" } as const;

export const extensionUpload = {
  method: "post",
  path: "/v1/extension-upload",
  called: "extensions.publish",
  summary: "Publish a version of an extension: the package itself, of at most 64 MiB",
  access: { capability: "extensions.create" },
  takes: BYTES,
  makes: { repeat: "answer", idField: "id" },
  answers: { 200: { description: "The extension's id", content: z.object({ id: z.string() }) } },
  refusals: [400, 401, 403, 413, 415],
} as const satisfies PlainRoute;

export const plainRoutes: readonly PlainRoute[] = [
  ...Object.values(deviceCodeRoutes),
  ...Object.values(oidcRoutes),
  extensionUpload,
  ...Object.values(sessionRoutes),
  {
    method: "get",
    path: "/v1/recording-attachments/{id}/download",
    called: "attachments.download",
    summary: "Download an attachment",
    access: { capability: "recordings.list" },
    answers: redirect,
    refusals: [401, 403, 404],
  },
  {
    method: "get",
    path: "/v1/data/pending-imports/{requestId}/file",
    called: "pendingImports.download",
    summary: "Download the stored file of an import request",
    access: { capability: "data.stream" },
    answers: redirect,
    refusals: [401, 403, 404],
  },
  {
    method: "get",
    path: "/v1/recordings/{keyOrId}/file",
    called: "recordingFiles.download",
    summary: "Download the file of an imported recording, byte for byte as it was uploaded",
    access: { capability: "data.stream" },
    query: z.object(inProject),
    answers: redirect,
    refusals: [400, 401, 403, 404, 409],
  },
  {
    ...delivery,
    path: "/data-plane/uploads/{requestId}",
    called: "dataPlane.upload",
    summary: "Upload a recording to the link of `POST /v1/data/upload`",
    description: "With `Content-Length` or chunked. A body that breaks off leaves nothing, and the link stays good.",
    answers: { 200: stored(z.object({ requestId: z.string() })) },
    refusals: [400, 403, 404, 408, 413, 415],
  },
  {
    ...delivery,
    path: "/data-plane/parts/{key}",
    called: "dataPlane.uploadPart",
    summary: "Upload a part of a file to the target that an agent was granted",
    answers: { 200: { ...stored(z.object({ number: z.int() })), headers: ["ETag"] } },
    refusals: [400, 403, 404],
  },
  {
    ...delivery,
    path: "/data-plane/pieces/{key}",
    called: "dataPlane.uploadPiece",
    summary: "Upload a piece of a part to the target that an agent was granted",
    answers: { 200: stored(z.object({ partNumber: z.int(), offset: z.int() })) },
    refusals: [400, 403, 404],
  },
  {
    ...exported,
    path: "/data-plane/exports",
    called: "dataPlane.export",
    summary: "Stream what `POST /v1/data/stream` has selected",
    description: "A failure in the middle ends the connection, so that a part is never taken for the whole.",
    answers: streamed,
  },
  {
    ...exported,
    path: "/data-plane/views/{id}/{fileName}",
    called: "dataPlane.view",
    summary: "Send what `POST /v1/view-links` has selected, as often as a viewer asks while the link lasts",
    description:
      "A failure in the middle, and the end of the link, end the connection. Only a file is sent in ranges; it is 503 until it is prepared.",
    headers: ["If-None-Match", "Range", "If-Range"],
    answers: {
      ...fileOf(BYTES),
      ...streamed,
      302: { description: "A link to the self-hosted site that has the data, in `Location`" },
    },
  },
  {
    ...download,
    path: "/data-plane/attachments/{id}",
    called: "dataPlane.attachment",
    summary: "An attachment's bytes, with the media type that its file names",
    answers: fileOf("*/*"),
  },
  {
    ...download,
    path: "/data-plane/thumbnails/{id}/{fileName}",
    called: "dataPlane.thumbnail",
    summary: "Small pictures of a recording (JPEG), or its track (GeoJSON)",
    answers: fileOf("*/*"),
  },
  {
    ...download,
    path: "/data-plane/training-sets/{id}/{fileName}",
    called: "dataPlane.trainingSet",
    summary: "Send all files of a training set as one tar archive; it is 404 once they are gone",
    answers: fileOf("application/x-tar"),
  },
  {
    ...download,
    path: "/data-plane/files/{id}/{fileName}",
    called: "dataPlane.file",
    summary: "The stored file of a recording, or of an import request",
  },
  {
    ...download,
    path: "/data-plane/extensions/{id}",
    called: "dataPlane.extension",
    summary: "An extension's package",
  },
  {
    method: "post",
    path: "/endpoints/inbox-notifications",
    called: "bucketNotifications.receive",
    summary: "Take notifications of a bucket in the form of its provider: S3, Ceph, MinIO, SNS, Pub/Sub, Event Grid",
    description:
      "An inbox notification token is in `Authorization: Bearer`, or in the address where the sender can set no header: `?token=`. A message that changes nothing is a success. The handshakes of SNS and of Event Grid are answered, of which the latter also comes as OPTIONS.",
    access: "anybody",
    query: z.object({
      token: z
        .string()
        .optional()
        .meta({ description: "An inbox notification token, unless it is in `Authorization`" }),
    }),
    takes: z.union([AnyObject, z.array(AnyObject)]),
    answers: { 200: { description: "Everything was noted", content: Noted } },
    refusals: [400, 401, 403, 408, 413],
  },
  {
    ...ofService,
    path: "/v1/openapi.json",
    called: "service.openapi",
    summary: "This document",
    headers: ["If-None-Match"],
    answers: {
      200: { description: "OpenAPI 3.1", content: AnyObject, headers: ["ETag"] },
      304: { description: "The caller has it, by `If-None-Match`", headers: ["ETag"] },
    },
    refusals: [431],
  },
  {
    ...ofService,
    path: "/docs",
    called: "service.docs",
    summary: "This document, to be read",
    answers: { 200: { description: "A page", content: "text/html" } },
    refusals: [431],
  },
  {
    ...ofService,
    path: "/.well-known/security.txt",
    called: "service.security",
    summary: "Where to report a fault of security, as RFC 9116 has it; 404 if the operator said nothing",
    answers: { 200: { description: "Contact and expiry", content: "text/plain" } },
    refusals: [404, 431],
  },
  {
    ...ofService,
    path: "/livez",
    called: "service.live",
    summary: "Whether the process answers",
    answers: { 200: { description: "It does", content: Live } },
    refusals: [431],
  },
  {
    ...ofService,
    path: "/readyz",
    called: "service.ready",
    summary: "Whether the process serves: its database answers, and it is not shutting down; and the room on its disks",
    answers: { 200: { description: "It does", content: Ready } },
    refusals: [431],
  },
  {
    ...ofService,
    path: "/metrics",
    called: "service.metrics",
    summary: "Metrics for Prometheus: for this machine, or with the token that the operator set",
    answers: { 200: { description: "Metrics", content: "text/plain" } },
    refusals: [401],
  },
];
