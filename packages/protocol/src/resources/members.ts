import { z } from "zod";
import { capabilities, EVERY_CAPABILITY } from "../operations/capabilities.ts";
import { anyPerson, apiKey, operation } from "../operations/operation.ts";
import { Credential } from "../shapes/credentials.ts";
import { Email } from "../shapes/email.ts";
import { page } from "../shapes/list.ts";
import { Id, knownText, StorableText } from "../shapes/text.ts";
import { Timestamp } from "../shapes/time.ts";

export const MemberRole = z.enum(["admin", "user"]);
export type MemberRole = z.infer<typeof MemberRole>;

const MAX_PROJECT_MEMBERS = 2000;

export const MIN_PASSWORD_CHARACTERS = 12;
export const Password = StorableText.min(MIN_PASSWORD_CHARACTERS).max(1000).meta({ example: "correct horse battery" });

export const Member = z
  .object({
    id: z.string(),
    email: z.string(),
    name: z.string().optional(),
    role: MemberRole,
    createdAt: Timestamp,
  })
  .meta({ id: "Member" });
export type Member = z.infer<typeof Member>;

export const Invitation = z
  .object({
    id: z.string(),
    email: z.string(),
    role: MemberRole,
    createdAt: Timestamp,
    expiresAt: Timestamp,
    link: Credential.optional().meta({ description: "For one use; shown once, in the answer that creates it" }),
  })
  .meta({ id: "Invitation" });
export type Invitation = z.infer<typeof Invitation>;

export const SignInSession = z
  .object({
    id: z.string(),
    createdAt: Timestamp,
    lastUsedAt: Timestamp.meta({ description: "To the minute" }),
    expiresAt: Timestamp,
    address: z.string().optional().meta({ description: "Where it began; of IPv6 the /64" }),
    isCurrent: z.boolean(),
  })
  .meta({ id: "SignInSession" });
export type SignInSession = z.infer<typeof SignInSession>;

export const Me = z
  .object({
    id: z.string(),
    orgId: z.string(),
    orgDisplayName: z.string(),
    orgSlug: z.string(),
    email: z.string().optional().meta({ description: "Absent for an API key" }),
    emailVerified: z.boolean().optional().meta({
      description:
        "Whether a provider of OpenID Connect has verified the address. An invitation proves nothing: its link goes to the admin, who gives it to whomever they like.",
    }),
    admin: z.boolean(),
    kind: z.enum(["member", "apiKey"]),
    role: MemberRole.optional(),
    capabilities: z.array(knownText([EVERY_CAPABILITY, ...capabilities])),
    isLimited: z.boolean().meta({
      description: "An API key that is limited to some projects: what is the organization's is refused to it",
    }),
    projects: z.array(z.object({ id: z.string(), name: z.string() })),
    backups: z
      .object({
        lastAt: Timestamp.optional().meta({
          description: "When the last backup began that lacks nothing; absent: never",
        }),
        isOverdue: z.boolean().meta({ description: "Whether the operator has to look after the backups" }),
      })
      .optional()
      .meta({ description: "The backups of the control plane, for admins of its only organization" }),
  })
  .meta({ id: "Me" });
export type Me = z.infer<typeof Me>;

export const PasswordReset = Member.extend({
  expiresAt: Timestamp,
  link: Credential.meta({ description: "For one use; shown once, in the answer that creates it" }),
}).meta({ id: "PasswordReset" });
export type PasswordReset = z.infer<typeof PasswordReset>;

const byId = z.object({ id: Id });

/** The people of an organization. These operations go beyond the specification. */
export const members = {
  list: operation({
    method: "get",
    path: "/v1/members",
    access: apiKey("members.list", "organization"),
    summary: "List the members of the organization",
    query: z.object(page),
    response: z.array(Member),
  }),
  update: operation({
    method: "patch",
    path: "/v1/members/{id}",
    audits: "member",
    access: apiKey("members.update", "organization"),
    summary: "Make a member an admin, or a user",
    description: "The last admin stays one (409). The caller must have all capabilities of the role.",
    params: byId,
    body: z.object({ role: MemberRole }),
    response: Member,
  }),
  delete: operation({
    method: "delete",
    path: "/v1/members/{id}",
    audits: "member",
    access: apiKey("members.delete", "organization"),
    summary: "Remove a member; their sessions end at once",
    description: "The last admin stays (409).",
    params: byId,
    response: byId,
  }),
  resetPassword: operation({
    method: "post",
    path: "/v1/members/{id}/password-reset",
    makes: { repeat: "secret" },
    audits: "member",
    access: apiKey("members.update", "organization"),
    summary: "Make a link by which a member sets a new password, once, within 24 hours",
    description:
      "A link that was made before is worth nothing any more. 409 for an account that has no password, or that is a member of another organization, too. The caller must have all capabilities of the member's role.",
    params: byId,
    response: PasswordReset,
  }),
};

export const invitations = {
  list: operation({
    method: "get",
    path: "/v1/invitations",
    access: apiKey("members.list", "organization"),
    summary: "List the invitations that are not accepted yet",
    query: z.object(page),
    response: z.array(Invitation),
  }),
  create: operation({
    method: "post",
    path: "/v1/invitations",
    makes: { repeat: "secret", idField: "id" },
    audits: "invitation",
    access: apiKey("members.create", "organization"),
    summary: "Invite a person by a link for one e-mail address and one use, good for 7 days",
    description: "The caller must have all capabilities of the role. An invitation never changes a password.",
    body: z.object({ email: Email, role: MemberRole.default("user") }),
    response: Invitation,
  }),
  delete: operation({
    method: "delete",
    path: "/v1/invitations/{id}",
    audits: "invitation",
    access: apiKey("members.delete", "organization"),
    summary: "Withdraw an invitation",
    params: byId,
    response: byId,
  }),
};

const ProjectMembers = z.object({ memberIds: z.array(z.string()) });

/** The members who see an invite-only project, besides the admins. */
export const projectMembers = {
  get: operation({
    method: "get",
    path: "/v1/projects/{id}/members",
    access: apiKey("members.list", "organization"),
    summary: "List the members of a project; they matter while it is invite-only",
    params: byId,
    response: ProjectMembers,
  }),
  put: operation({
    method: "put",
    path: "/v1/projects/{id}/members",
    audits: "project",
    access: apiKey("members.update", "organization"),
    summary: "Set all members of a project",
    params: byId,
    body: z.object({ memberIds: z.array(Id).max(MAX_PROJECT_MEMBERS) }),
    response: ProjectMembers,
  }),
};

/** The caller: who they are, and from where else they are signed in. */
export const me = {
  get: operation({
    method: "get",
    path: "/v1/me",
    access: anyPerson(),
    summary: "Tell who calls, and what they may do",
    response: Me,
  }),
  listSessions: operation({
    method: "get",
    path: "/v1/me/sessions",
    access: anyPerson(),
    summary: "List the sessions of who calls",
    response: z.array(SignInSession),
  }),
  endSession: operation({
    method: "delete",
    path: "/v1/me/sessions/{id}",
    audits: "session",
    access: anyPerson(),
    summary: "End a session of who calls",
    params: byId,
    response: byId,
  }),
  endSessions: operation({
    method: "delete",
    path: "/v1/me/sessions",
    audits: "session",
    access: anyPerson(),
    summary: "End all sessions of who calls, also the current one",
    response: z.object({ ended: z.int().min(0) }),
  }),
  changePassword: operation({
    method: "put",
    path: "/v1/me/password",
    audits: "member",
    auditsItself: true,
    access: anyPerson(),
    summary:
      "Change the password of who calls, a member with a browser's session; all other sessions of the account end",
    description: "403 `SignInRefused` if `password` is not the one that counts until now.",
    body: z.object({
      password: StorableText.min(1).max(1000).meta({ example: "correct horse battery" }),
      newPassword: Password.meta({ example: "staple correct horse" }),
    }),
    response: z.object({ ended: z.int().min(0) }),
  }),
};
