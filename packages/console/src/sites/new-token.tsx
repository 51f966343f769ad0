import { useState } from "preact/hooks";
import type { Failure } from "../api/failure.ts";
import { ExpiryField, expiryOf } from "../parts/expiry-field.tsx";
import { FormDialog } from "../parts/form-dialog.tsx";

interface NewProps {
  readonly isRunning: boolean;
  readonly failure: Failure | undefined;
  readonly onMake: (expiry: { expiresAt?: bigint }) => void;
  readonly onClose: () => void;
}

export function NewToken({ isRunning, failure, onMake, onClose }: NewProps) {
  const [days, setDays] = useState("");
  const make = () => {
    onMake(expiryOf(days));
  };
  return (
    <FormDialog {...{ isRunning, failure, onClose }} title="New token" deed="Make the token" onSubmit={make}>
      <ExpiryField onChange={setDays} />
    </FormDialog>
  );
}
