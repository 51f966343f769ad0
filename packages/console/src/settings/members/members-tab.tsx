import { invitations, type Member, type MemberRole, members } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { mayCall, useMe } from "../../api/me.ts";
import { useChange } from "../../api/use-change.ts";
import { useRows } from "../../api/use-rows.ts";
import { Button } from "../../parts/button.tsx";
import { Failed } from "../../parts/failed.tsx";
import { SettingsFrame } from "../settings-frame.tsx";
import { InvitationList } from "./invitation-list.tsx";
import type { Deed } from "./member-deeds.ts";
import { MemberDialogs } from "./member-dialogs.tsx";
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
