import { type Invitation, invitations, type Me, type Member, type MemberRole, members } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { mayCall, useMe } from "../../api/me.ts";
import { useChange } from "../../api/use-change.ts";
import { type Rows, useRows } from "../../api/use-rows.ts";
import { Button } from "../../parts/button.tsx";
import { Failed } from "../../parts/failed.tsx";
import { ResourceList } from "../../parts/resource-list.tsx";
import { Age } from "../../parts/time.tsx";
import { actionsColumn } from "../row-actions.tsx";
import { SettingsFrame } from "../settings-frame.tsx";
import { type Deed, MemberDialogs } from "./member-dialogs.tsx";
import { MemberList } from "./member-list.tsx";

/** Lists the people of the organization, and the invitations. */
export function MembersTab() {
  const { data: me } = useMe();
  const isEnabled = mayCall(me, members.list);
  const people = useRows(members.list, {}, { isEnabled });
  const invited = useRows(invitations.list, {}, { isEnabled });
  const [deed, setDeed] = useState<Deed>();
  const change = useChange(members.update, members.list);
  const reset = useChange(members.resetPassword);
  const onRole = (id: string, role: MemberRole) => void change.run({ id, role });
  const onReset = async ({ id, email }: Member) => {
    const made = await reset.run({ id });
    if (made) setDeed({ is: "link", title: `A new password for ${email}`, link: made.link, expiresAt: made.expiresAt });
  };
  const failure = change.failure ?? reset.failure;
  const action = mayCall(me, invitations.create) && (
    <Button text="Invite somebody" class="primary" onClick={() => setDeed({ is: "invite" })} />
  );
  return (
    <SettingsFrame segment="members" action={action}>
      {failure && <Failed failure={failure} />}
      <MemberList {...{ me, rows: people, setDeed, onRole, onReset }} />
      {(invited.count > 0 || invited.failure) && (
        <section class="section" aria-label="Invitations">
          <h2>Invitations</h2>
          <InvitationList {...{ me, rows: invited, setDeed }} />
        </section>
      )}
      <MemberDialogs {...{ me, deed, setDeed }} />
    </SettingsFrame>
  );
}

interface ListProps {
  readonly me: Me | undefined;
  readonly rows: Rows<Invitation>;
  readonly setDeed: (deed: Deed) => void;
}

/** Lists the invitations that are not accepted yet. */
function InvitationList({ me, rows, setDeed }: ListProps) {
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
