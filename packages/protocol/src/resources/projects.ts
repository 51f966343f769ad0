import { z } from "zod";
import { apiKey, operation } from "../operations/operation.ts";
import { Id, StorableText } from "../shapes/text.ts";
import { Timestamp } from "../shapes/time.ts";

export const ProjectName = StorableText.trim().min(1).max(100);

export const Project = z
  .object({
    id: z.string(),
    name: z.string().optional(),
    orgMemberCount: z.int().min(0).optional(),
    lastSeenAt: Timestamp.optional().meta({ description: "When a recording was last uploaded" }),
    isInviteOnly: z.boolean(),
  })
  .meta({ id: "Project" });
export type Project = z.infer<typeof Project>;

/** Create and update are ours, beyond the specification. */
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
    makes: { repeat: "answer", idField: "id" },
    access: apiKey("projects.create", "organization"),
    summary: "Create a project",
    body: z.object({ name: ProjectName }),
    response: Project,
  }),
  update: operation({
    method: "patch",
    path: "/v1/projects/{id}",
    access: apiKey("projects.update", "organization"),
    summary: "Rename a project",
    params: z.object({ id: Id }),
    body: z.object({ name: ProjectName }),
    response: Project,
  }),
};
