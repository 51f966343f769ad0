import { type Me, type Member, type MemberRole, members } from "@downlink/protocol";
import { mayCall } from "../../api/me.ts";
import type { Rows } from "../../api/use-rows.ts";
import { ResourceList } from "../../parts/resource-list.tsx";
import { Age } from "../../parts/time.tsx";
import { actionsColumn, type RowActions } from "../row-actions.tsx";
import type { Deed } from "./member-dialogs.tsx";

interface ListProps {
  readonly me: Me | undefined;
  readonly rows: Rows<Member>;
  readonly setDeed: (deed: Deed) => void;
  readonly onRole: (id: string, role: MemberRole) => void;
  readonly onReset: (member: Member) => void;
}

export function MemberList({ me, rows, setDeed, onRole, onReset }: ListProps) {
  const mayChange = mayCall(me, members.update);
  const mayRemove = mayCall(me, members.delete);
  const turn = (role: MemberRole, { id }: Member) => ({ text: `Change to ${role}`, onChoose: () => onRole(id, role) });
  const items = (member: Member): RowActions => [
    mayChange && turn(member.role === "admin" ? "user" : "admin", member),
    mayChange && { text: "Link for a new password", onChoose: () => onReset(member) },
    mayRemove && { text: "Remove…", isDangerous: true, onChoose: () => setDeed({ is: "remove", member }) },
  ];
  return (
    <ResourceList
      label="Members"
      rows={rows}
      none="There is no member yet: only API keys."
      columns={[
        {
          name: "E-mail",
          width: "minmax(160px, 2fr)",
          narrow: "title",
          cell: ({ id, email }) => (
            <>
              {email} {id === me?.id && <span class="muted">(you)</span>}
            </>
          ),
        },
        { name: "Name", width: "minmax(100px, 1fr)", narrow: "sub", cell: ({ name }) => name ?? "—" },
        { name: "Role", width: "80px", narrow: "sub-end", cell: ({ role }) => role },
        { name: "Joined", width: "120px", cell: ({ createdAt }) => <Age timeNs={createdAt} /> },
        actionsColumn<Member>({ nameOf: ({ email }) => email, items }),
      ]}
    >
      <p>Invite somebody: they get a link for one use.</p>
    </ResourceList>
  );
}
