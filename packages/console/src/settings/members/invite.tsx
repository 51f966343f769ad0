import { type Invitation, invitations, type MemberRole } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { useChange } from "../../api/use-change.ts";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { TextField } from "../../parts/text-field.tsx";

const ROLES: Readonly<Record<MemberRole, string>> = {
  user: "User: everything about data, in the projects that they may see",
  admin: "Admin: everything, also people, keys and sites",
};

interface InviteProps {
  readonly onMade: (invitation: Invitation) => void;
  readonly onClose: () => void;
}

export function Invite({ onMade, onClose }: InviteProps) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<MemberRole>("user");
  const { run, isRunning, failure } = useChange(invitations.create, invitations.list);
  const invite = async () => {
    const made = await run({ email, role });
    if (made) onMade(made);
  };
  return (
    <FormDialog {...{ isRunning, failure, onClose }} title="Invite somebody" deed="Make the link" onSubmit={invite}>
      <TextField
        label="E-mail"
        hint="No e-mail is sent: you get a link to give to them."
        type="email"
        value={email}
        onChange={setEmail}
        required
      />
      <fieldset>
        <legend>Role</legend>
        {(["user", "admin"] as const).map((one) => (
          <label key={one} class="choice">
            <input type="radio" name="role" checked={role === one} onChange={() => setRole(one)} />
            {ROLES[one]}
          </label>
        ))}
      </fieldset>
    </FormDialog>
  );
}
