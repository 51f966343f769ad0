import { apiKeys, type Me } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { useChange } from "../../api/use-change.ts";
import { ProjectChoices } from "../../parts/choices.tsx";
import { ExpiryField, expiryOf } from "../../parts/expiry-field.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { TextField } from "../../parts/text-field.tsx";
import { CapabilityMatrix, type Granted, grantedBy } from "./capability-matrix.tsx";

interface NewProps {
  readonly me: Me;
  readonly onMade: (secret: string) => void;
  readonly onClose: () => void;
}

/** Makes a key. Users can give it only capabilities that they hold. */
export function NewKey({ me, onMade, onClose }: NewProps) {
  const [name, setName] = useState("");
  const [granted, setGranted] = useState<Granted>(grantedBy("read", me));
  const [projectIds, setProjectIds] = useState<readonly string[]>([]);
  const [days, setDays] = useState("");
  const { run, isRunning, failure } = useChange(apiKeys.create, apiKeys.list);
  const isReady = name.trim() !== "" && granted.length > 0 && (!me.isLimited || projectIds.length > 0);
  const make = async () => {
    const made = await run({ name, capabilities: [...granted], projectIds: [...projectIds], ...expiryOf(days) });
    if (made) onMade(made.token!);
  };
  return (
    <FormDialog
      {...{ isRunning, failure, onClose }}
      title="New API key"
      deed="Make the key"
      onSubmit={make}
      isDisabled={!isReady}
      isWide
    >
      <TextField
        label="Name"
        hint="What will use it, such as “nightly export”."
        value={name}
        onChange={setName}
        maxLength={100}
        required
      />
      <CapabilityMatrix {...{ me, granted, onChange: setGranted }} />
      <ProjectChoices
        ofNone={
          me.isLimited ? "Choose at least one: you see no others." : "None chosen: every project, also later ones."
        }
        projects={me.projects}
        chosen={projectIds}
        onChange={setProjectIds}
      />
      <ExpiryField onChange={setDays} />
    </FormDialog>
  );
}
