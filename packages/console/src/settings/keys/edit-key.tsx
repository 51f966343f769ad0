import { type ApiKey, apiKeys, type Me } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { useChange } from "../../api/use-change.ts";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { TextField } from "../../parts/text-field.tsx";
import { toast } from "../../parts/toast.tsx";
import { CapabilityMatrix, type Granted } from "./capability-matrix.tsx";

interface EditProps {
  readonly me: Me;
  readonly apiKey: ApiKey;
  readonly onClose: () => void;
}

/** Renames a key, or changes what it may do from now on. */
export function EditKey({ me, apiKey, onClose }: EditProps) {
  const [name, setName] = useState(apiKey.name);
  const [granted, setGranted] = useState<Granted>(apiKey.capabilities as Granted);
  const { run, isRunning, failure } = useChange(apiKeys.update, apiKeys.list);
  const change = async () => {
    if (!(await run({ id: apiKey.id, name, capabilities: [...granted] }))) return;
    toast("The key is changed.");
    onClose();
  };
  return (
    <FormDialog
      {...{ isRunning, failure, onClose }}
      title={`Change ${apiKey.name}`}
      deed="Change the key"
      onSubmit={change}
      isDisabled={granted.length === 0}
      isWide
    >
      <TextField label="Name" value={name} onChange={setName} maxLength={100} required />
      <CapabilityMatrix {...{ me, granted, onChange: setGranted }} />
    </FormDialog>
  );
}
