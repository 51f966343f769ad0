import { deviceTokens, type Me } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { useChange } from "../../api/use-change.ts";
import { ExpiryField, expiryOf } from "../../parts/expiry-field.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { namedChoices, SelectField } from "../../parts/select.tsx";

interface NewProps {
  readonly me: Me;
  readonly onMade: (secret: string) => void;
  readonly onClose: () => void;
}

/** Makes a token by which robots enrol themselves. */
export function NewToken({ me: { projects }, onMade, onClose }: NewProps) {
  const [projectId, setProjectId] = useState(projects[0]?.id ?? "");
  const [preapproved, setPreapproved] = useState(false);
  const [days, setDays] = useState("30");
  const { run, isRunning, failure } = useChange(deviceTokens.create, deviceTokens.list);
  const make = async () => {
    const made = await run({ projectId, preapproved, ...expiryOf(days) });
    if (made) onMade(made.token!);
  };
  return (
    <FormDialog
      {...{ isRunning, failure, onClose }}
      title="New token for enrolment"
      deed="Make the token"
      onSubmit={make}
      isDisabled={projectId === ""}
    >
      <SelectField
        label="Project of the new devices"
        value={projectId}
        choices={namedChoices(projects)}
        onChange={setProjectId}
      />
      <label class="choice">
        <input type="checkbox" checked={preapproved} onChange={() => setPreapproved(!preapproved)} />
        New devices may upload at once, without being enabled first
      </label>
      <ExpiryField initial="30" onChange={setDays} />
    </FormDialog>
  );
}
