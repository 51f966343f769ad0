import { type Invitation, invitations, type Me, type Member, members } from "@downlink/protocol";
import { DeleteDialog } from "../../parts/delete-dialog.tsx";
import { SecretDialog } from "../../parts/secret-dialog.tsx";
import { Age } from "../../parts/time.tsx";
import { Invite } from "./invite.tsx";

/** An action on the page of the members, whose dialog is open. */
export type Deed =
  | { readonly is: "invite" }
  | { readonly is: "link"; readonly title: string; readonly link: string; readonly expiresAt: bigint }
  | { readonly is: "withdraw"; readonly invitation: Invitation }
  | { readonly is: "remove"; readonly member: Member }
  | undefined;

interface DialogsProps {
  readonly me: Me | undefined;
  readonly deed: Deed;
  readonly setDeed: (deed: Deed) => void;
}

export function MemberDialogs({ me, deed, setDeed }: DialogsProps) {
  const onClose = () => setDeed(undefined);
  if (deed?.is === "invite")
    return (
      <Invite
        onClose={onClose}
        onMade={({ email, link, expiresAt }) =>
          setDeed({ is: "link", title: `Invitation of ${email}`, link: link!, expiresAt })
        }
      />
    );
  if (deed?.is === "link")
    return (
      <SecretDialog title={deed.title} secret={deed.link} onClose={onClose}>
        <p>
          Give this link to the person over a channel that nobody else reads. It works once, and expires{" "}
          <Age timeNs={deed.expiresAt} />.
        </p>
      </SecretDialog>
    );
  if (deed?.is === "withdraw")
    return (
      <DeleteDialog
        operation={invitations.delete}
        input={{ id: deed.invitation.id }}
        stale={[invitations.list]}
        title={`Withdraw the invitation of ${deed.invitation.email}?`}
        deed="Withdraw the invitation"
        done="The invitation is withdrawn."
        onClose={onClose}
      >
        <p>Its link no longer works from then on.</p>
      </DeleteDialog>
    );
  if (deed?.is === "remove")
    return (
      <DeleteDialog
        operation={members.delete}
        input={{ id: deed.member.id }}
        stale={[members.list]}
        title={`Remove ${deed.member.email}?`}
        deed="Remove the member"
        done={`${deed.member.email} is removed.`}
        onClose={onClose}
      >
        <p>
          All their sessions in this organization end at once, also those of programs that they let in
          {deed.member.id === me?.id ? ": yours, too" : ""}. What they made stays: recordings, events, keys.
        </p>
      </DeleteDialog>
    );
  return null;
}
