import { z } from "zod";
import { apiKey, operation } from "../operations/operation.ts";
import { Credential } from "../shapes/credentials.ts";
import { page } from "../shapes/list.ts";
import { Id, StorableText } from "../shapes/text.ts";
import { Timestamp } from "../shapes/time.ts";
import { tokenExpiry, tokenFacts } from "../shapes/token-facts.ts";
import { AgentPoint, EdgeAgent } from "./edge-agents.ts";

const SiteName = StorableText.trim().min(1).max(100);
const ProjectIds = z.array(Id).max(1000);
const RetainSeconds = z.number().min(0).meta({ description: "Seconds; edge sites only; 0 keeps for ever" });

export const SiteType = z.enum(["service-hosted", "self-hosted", "edge", "byob"]);
export type SiteType = z.infer<typeof SiteType>;

export const Site = z
  .object({
    id: z.string(),
    name: z.string(),
    type: SiteType,
    url: z.string().optional().meta({
      description: "Where clients reach a self-hosted primary site: as an admin set it, else as the site itself says",
    }),
    retainRecordingsSeconds: RetainSeconds.optional(),
    projectIds: z.array(z.string()).meta({
      description: "The projects that it is for, as far as the caller sees them; empty: every project",
    }),
    agent: EdgeAgent.optional().meta({
      description:
        "Read-only; absent while no agent was ever there; its `status` covers all projects' files and is for those who see all",
    }),
  })
  .extend({
    process: z
      .object({
        programVersion: z.string(),
        storeKind: z.enum(["file", "s3", "azure"]),
        lastSeenAt: Timestamp,
        isOnline: z.boolean(),
      })
      .optional()
      .meta({ description: "Read-only; the process of a self-hosted site; absent until it has connected" }),
    health: z
      .object({
        state: z
          .enum(["readable", "unreadable", "unknown"])
          .meta({ description: "`unknown` before the first listing" }),
        problem: z.string().optional().meta({
          description: "Why the bucket cannot be read, with the permission that is missing where it is that",
        }),
        problemSince: Timestamp.optional(),
        lastListedAt: Timestamp.optional().meta({ description: "When the last listing that came to its end began" }),
      })
      .optional()
      .meta({ description: "Read-only; of the bucket of a bring-your-own-bucket site, as its last visit found it" }),
  })
  .meta({ id: "Site" });
export type Site = z.infer<typeof Site>;

const params = z.object({ id: Id });

export const sites = {
  list: operation({
    method: "get",
    path: "/v1/sites",
    access: apiKey("sites.list", "shared"),
    summary: "List sites, by name",
    description: "A caller that is limited to some projects sees the sites for one of those or for all.",
    query: z.object(page),
    response: z.array(Site),
  }),
  create: operation({
    method: "post",
    path: "/v1/sites",
    audits: "site",
    makes: { repeat: "answer", idField: "id" },
    access: apiKey("sites.create", "organization"),
    summary: "Create a self-hosted primary site or an edge site",
    description: "The agent of an edge site acts only in the projects that the site is for.",
    body: z
      .object({
        name: SiteName,
        type: z.enum(["self-hosted", "edge"]),
        retainRecordingsSeconds: RetainSeconds.optional(),
        projectIds: ProjectIds.default([]).meta({ description: "Empty: every project" }),
      })
      .refine((body) => body.type === "edge" || body.retainRecordingsSeconds === undefined, {
        path: ["retainRecordingsSeconds"],
        error: "is for edge sites only",
      }),
    response: Site,
  }),
  get: operation({
    method: "get",
    path: "/v1/sites/{id}",
    access: apiKey("sites.list", "shared"),
    summary: "Get a site",
    params,
    response: Site,
  }),
  update: operation({
    method: "patch",
    path: "/v1/sites/{id}",
    audits: "site",
    access: apiKey("sites.update", "organization"),
    summary: "Update a site",
    description:
      "If an edge site is no longer for a project, the project's data stays there; new files are `unassigned`, with the reason `ProjectNotOfSite`.",
    params,
    body: z.object({
      name: SiteName.optional(),
      retainRecordingsSeconds: RetainSeconds.optional(),
      projectIds: ProjectIds.optional().meta({ description: "Empty: every project; not of the service-hosted site" }),
      url: z
        .url({ protocol: /^https?$/ })
        .nullable()
        .optional()
        .meta({ description: "Self-hosted primary sites only; null: the address that the site itself says" }),
    }),
    response: Site,
  }),
  releaseAgent: operation({
    method: "post",
    path: "/v1/sites/{id}/agent/release",
    audits: "site",
    makes: "nothing",
    access: apiKey("sites.update", "organization"),
    summary: "Serve an edge site's agent again after it was found to be cloned, once only one of the two is left",
    params,
    response: Site,
  }),
  revokeKeys: operation({
    method: "post",
    path: "/v1/sites/{id}/signing-keys/revoke",
    audits: "site",
    makes: "nothing",
    access: apiKey("sites.update", "organization"),
    summary: "Revoke the signing keys of a self-hosted site at once; it gets a new one",
    description: "All links to it end, those of uploads, too; ask for new ones.",
    params,
    response: Site,
  }),
  listAgentHistory: operation({
    method: "get",
    path: "/v1/sites/{id}/agent-history",
    access: apiKey("sites.list", "organization"),
    summary: "List how an edge site's agent fared in the last seven days, every five minutes",
    params,
    query: z.object(page),
    response: z.array(AgentPoint),
  }),
  delete: operation({
    method: "delete",
    path: "/v1/sites/{id}",
    audits: "site",
    access: apiKey("sites.delete", "organization"),
    summary: "Delete a site for good; recordings stored at it become unavailable",
    description:
      "Its tokens are deleted with it. The data in the store of a self-hosted site stays there. A service-hosted site is kept (409) while it holds recordings or imports, and where it is the only one.",
    params,
    response: z.object({ id: z.string() }),
  }),
};

export const SiteToken = z
  .object({
    id: z.string(),
    createdAt: Timestamp,
    siteId: z.string(),
    ...tokenFacts,
    token: Credential.optional().meta({ description: "Shown once, in the answer that creates it" }),
  })
  .meta({ id: "SiteToken" });
export type SiteToken = z.infer<typeof SiteToken>;

const tokenList = z.object({ siteId: Id.optional(), ...page });
const tokenBody = z.object({ siteId: Id, ...tokenExpiry });

/** Tokens by which self-hosted primary sites and edge sites call the API. */
export const siteTokens = {
  list: operation({
    method: "get",
    path: "/v1/site-tokens",
    access: apiKey("siteTokens.list", "organization"),
    summary: "List site tokens",
    query: tokenList,
    response: z.array(SiteToken),
  }),
  create: operation({
    method: "post",
    path: "/v1/site-tokens",
    audits: "siteToken",
    makes: { repeat: "secret", idField: "id" },
    access: apiKey("siteTokens.create", "organization"),
    summary: "Create a site token",
    body: tokenBody,
    response: SiteToken,
  }),
  delete: operation({
    method: "delete",
    path: "/v1/site-tokens/{id}",
    audits: "siteToken",
    access: apiKey("siteTokens.delete", "organization"),
    summary: "Delete a site token; who uses it is refused from then on",
    params,
    response: z.object({ success: z.literal(true) }),
  }),
};

/** The senders that a provider signs for: without its field a token takes no messages of that kind. */
const inboxSenders = {
  snsTopicArn: StorableText.regex(/^arn:[\w-]+:sns:[\w-]+:\d{12}:[\w.-]{1,256}$/, "must be the ARN of an SNS topic")
    .optional()
    .meta({
      description: "Takes messages of this SNS topic only",
      example: "arn:aws:sns:eu-central-1:123456789012:recordings",
    }),
  pubsubAudience: StorableText.min(1).max(1024).optional().meta({
    description: "Takes Pub/Sub messages whose token is for this audience; with `pubsubServiceAccount`",
    example: "https://downlink.example.org",
  }),
  pubsubServiceAccount: z.email().max(320).optional().meta({
    description: "The e-mail of the service account that Pub/Sub pushes as",
    example: "push@project.iam.gserviceaccount.com",
  }),
};

export const InboxToken = SiteToken.extend({ orgId: z.string(), ...inboxSenders }).meta({
  id: "InboxNotificationToken",
});
export type InboxToken = z.infer<typeof InboxToken>;

/** Tokens for the bucket notifications of a primary site. */
export const inboxTokens = {
  list: operation({
    method: "get",
    path: "/v1/site-inbox-notification-tokens",
    access: apiKey("sites.list", "organization"),
    summary: "List inbox notification tokens",
    query: tokenList,
    response: z.array(InboxToken),
  }),
  create: operation({
    method: "post",
    path: "/v1/site-inbox-notification-tokens",
    audits: "inboxToken",
    makes: { repeat: "secret", idField: "id" },
    access: apiKey("sites.create", "organization"),
    summary: "Create an inbox notification token",
    description:
      "With it alone, `POST /v1/site-bucket-notifications` and the events of an S3-compatible store are accepted at `/endpoints/inbox-notifications?token=…`; SNS and Pub/Sub also need who sends them.",
    body: tokenBody
      .extend(inboxSenders)
      .refine((body) => (body.pubsubAudience === undefined) === (body.pubsubServiceAccount === undefined), {
        path: ["pubsubServiceAccount"],
        error: "is needed together with pubsubAudience",
      }),
    response: InboxToken,
  }),
  delete: operation({
    method: "delete",
    path: "/v1/site-inbox-notification-tokens/{id}",
    audits: "inboxToken",
    access: apiKey("sites.delete", "organization"),
    summary: "Delete an inbox notification token",
    params,
    response: z.object({ id: z.string() }),
  }),
};
