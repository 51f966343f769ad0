import { api, Email, type Invitation, Member, MemberRole, type PasswordReset } from "@downlink/protocol";
import { type Command, InvalidArgumentError } from "commander";
import type { Ctx, Deps } from "../calls/context/context.ts";
import { CommandError } from "../core/command-error.ts";
import { erasePerson } from "../organization/members/erase-person.ts";
import { invitations, shownInvitation } from "../organization/members/invitations.ts";
import { members, shownMember } from "../organization/members/members.ts";
import { act, operatorOf } from "./act-as-operator.ts";
import { linesOf, print, toTime } from "./print-rows.ts";
import { readEveryPage } from "./read-every-page.ts";

interface Deployment {
  /** Opens the database, even beside a running control plane. */
  beside(use: (deps: Deps) => Promise<void>): Promise<void>;
}

interface Flags {
  readonly invite?: string;
  readonly change?: string;
  readonly role?: MemberRole;
  readonly remove?: string;
  readonly reset?: string;
  readonly json: boolean;
}

const bound = { contract: api.members, handlers: members, shown: shownMember };
const inviting = { contract: api.invitations, handlers: invitations, shown: shownInvitation };

export function addMemberCommand(admin: Command, { beside }: Deployment): void {
  const command = admin
    .command("members")
    .argument("<organization>")
    .description("list the members of an organization, by its id or name; change what is given")
    .option("--invite <e-mail>", "print a link by which a person becomes a member, once, within seven days", readEmail)
    .option("--change <id>", "give a member the role that --role says")
    .option("--role <role>", "admin or user; without it, an invitation is for a user", readRole)
    .option("--remove <id>", "remove a member, whose sessions end at once")
    .option("--reset <id>", "print a link by which a member sets a new password, once, within a day")
    .option("--json", "print each member as a line of JSON, as the API answers it", false)
    .addHelpText(
      "after",
      "\nExamples:\n  downlink admin members acme --invite ada@example.org --role admin\n  downlink admin members acme --json",
    )
    .action((organization: string, flags: Flags) =>
      beside(async (deps) => {
        const ctx = await operatorOf(deps, organization);
        await change(ctx, flags);
        const rows = await readEveryPage<Member>((page) => members.list(ctx, page));
        const none = "there is no member; --invite makes a link for one";
        print(linesOf(rows, { json: flags.json, schema: Member, describe, none }));
      }),
    );
  command
    .command("erase <e-mail>")
    .description("replace a person's e-mail address by a mark in the audit log and in all rows, and remove the account")
    .addHelpText("after", "\nExample:\n  downlink admin members erase ada@example.org")
    .action((text: string) =>
      beside(async (deps) => {
        const { mark, counts } = await erasePerson(deps, readEmail(text));
        const rows = Object.entries(counts).map(([kind, count]) => `${count} ${kind}`);
        print([`the address is ${mark} from now on: ${rows.join(", ")}`]);
      }),
    );
}

function readRole(text: string): MemberRole {
  const role = MemberRole.safeParse(text);
  if (role.success) return role.data;
  throw new InvalidArgumentError("admin or user.");
}

function readEmail(text: string): string {
  const email = Email.safeParse(text);
  if (email.success) return email.data;
  throw new InvalidArgumentError(`It ${email.error.issues[0]!.message}.`);
}

async function change(ctx: Ctx, { invite, change: id, role, remove, reset }: Flags): Promise<void> {
  if (invite !== undefined) {
    const made = await act(ctx, [inviting, "create"], { email: invite, role: role ?? "user" });
    process.stderr.write(`invitation (shown once): ${(made as Invitation).link}\n`);
  }
  if (id !== undefined && role === undefined) throw new CommandError("--change needs --role admin or --role user");
  if (id === undefined && invite === undefined && role !== undefined)
    throw new CommandError("--role needs --change with a member's id, or --invite");
  if (id !== undefined) await act(ctx, [bound, "update"], { id, role: role! });
  if (reset !== undefined) {
    const made = await act(ctx, [bound, "resetPassword"], { id: reset });
    process.stderr.write(`link for a new password (shown once): ${(made as PasswordReset).link}\n`);
  }
  if (remove !== undefined) await act(ctx, [bound, "delete"], { id: remove });
}

function describe({ id, email, role, createdAt }: Member): string {
  return `${id}  ${email}: ${role}, since ${toTime(createdAt)}`;
}
