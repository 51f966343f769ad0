import { z } from "zod";
import { apiKey, operation } from "../operations/operation.ts";
import { Id, StorableText } from "../shapes/text.ts";
import { Timestamp } from "../shapes/time.ts";

export const ProjectName = StorableText.trim().min(1).max(100);

export const thumbnailChoices = ["all", "own", "none"] as const;

export const Project = z
  .object({
    id: z.string(),
    name: z.string().optional(),
    orgMemberCount: z.int().min(0).optional().meta({ description: "How many members see it" }),
    lastSeenAt: Timestamp.optional().meta({ description: "When a recording was last uploaded" }),
    isInviteOnly: z
      .boolean()
      .meta({ description: "Members who are no admins see it only if they are among its members" }),
    thumbnails: z.enum(thumbnailChoices).meta({
      description:
        "The recordings of which small pictures are made: `own`, those whose data is in the service's own store · `all`, those in customers' buckets, too · `none`",
    }),
    primarySiteId: z.string().optional().meta({
      description: "The primary site of its uploads; absent: the service-hosted one",
    }),
  })
  .meta({ id: "Project" });
export type Project = z.infer<typeof Project>;

/** Create and update go beyond the specification. */
export const projects = {
  list: operation({
    method: "get",
    path: "/v1/projects",
    access: apiKey("projects.list", "projects"),
    summary: "List the projects that the caller may see, by name",
    response: z.array(Project),
  }),
  create: operation({
    method: "post",
    path: "/v1/projects",
    audits: "project",
    makes: { repeat: "answer", idField: "id" },
    access: apiKey("projects.create", "organization"),
    summary: "Create a project",
    body: z.object({ name: ProjectName, isInviteOnly: z.boolean().default(false) }),
    response: Project,
  }),
  update: operation({
    method: "patch",
    path: "/v1/projects/{id}",
    audits: "project",
    access: apiKey("projects.update", "organization"),
    summary: "Rename a project, or change its primary site, who sees it and its pictures",
    params: z.object({ id: Id }),
    body: z.object({
      name: ProjectName.optional(),
      isInviteOnly: z.boolean().optional(),
      thumbnails: z.enum(thumbnailChoices).optional().meta({
        description:
          "With `all`, the service's own store keeps small pictures of what is in customers' buckets. Pictures that are no longer wanted are deleted",
      }),
      primarySiteId: Id.nullable().optional().meta({
        description: "A service-hosted or self-hosted site; null: the service-hosted one",
      }),
    }),
    response: Project,
  }),
};
