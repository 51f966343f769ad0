import { type Invitation, invitations, type Me } from "@downlink/protocol";
import { mayCall } from "../../api/me.ts";
import type { Rows } from "../../api/use-rows.ts";
import { ResourceList } from "../../parts/resource-list.tsx";
import { Age } from "../../parts/time.tsx";
import { actionsColumn } from "../row-actions.tsx";
import type { Deed } from "./member-deeds.ts";

interface ListProps {
  readonly me: Me | undefined;
  readonly rows: Rows<Invitation>;
  readonly setDeed: (deed: Deed) => void;
}

/** Lists the invitations that are not accepted yet. */
export function InvitationList({ me, rows, setDeed }: ListProps) {
  const mayWithdraw = mayCall(me, invitations.delete);
  return (
    <ResourceList
      label="Invitations"
      rows={rows}
      none="Nobody is invited."
      columns={[
        { name: "E-mail", width: "minmax(160px, 2fr)", narrow: "title", cell: ({ email }) => email },
        { name: "Role", width: "80px", narrow: "sub", cell: ({ role }) => role },
        { name: "Invited", width: "120px", cell: ({ createdAt }) => <Age timeNs={createdAt} /> },
        { name: "Expires", width: "120px", narrow: "sub-end", cell: ({ expiresAt }) => <Age timeNs={expiresAt} /> },
        actionsColumn<Invitation>({
          nameOf: ({ email }) => email,
          items: (invitation) => [
            mayWithdraw && {
              text: "Withdraw…",
              isDangerous: true,
              onChoose: () => setDeed({ is: "withdraw", invitation }),
            },
          ],
        }),
      ]}
    />
  );
}
