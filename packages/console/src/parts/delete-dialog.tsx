import type { CallInput, Operation, Output } from "@downlink/protocol";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useChange } from "../api/use-change.ts";
import { FormDialog } from "./form-dialog.tsx";
import { TextField } from "./text-field.tsx";
import { toast } from "./toast.tsx";

interface DeleteProps<O extends Operation> {
  readonly operation: O;
  readonly input: CallInput<O>;
  readonly stale: readonly Operation[];
  readonly title: string;
  /** The verb on the button. */
  readonly deed: string;
  /** The message once it is done. */
  readonly done?: string | ((answer: Output<O>) => string);
  /** A name that has to be typed first, for what cannot be undone. */
  readonly typedName?: string | undefined;
  /** Says what is deleted, and what stays. */
  readonly children: ComponentChildren;
  readonly onClose: () => void;
  readonly onDone?: () => void;
}

/** Asks before an operation that takes something away, and says in place why it was refused. The button names the deed. */
export function DeleteDialog<O extends Operation>(props: DeleteProps<O>) {
  const { operation, input, stale, title, deed, done, typedName, children, onClose, onDone } = props;
  const { run, isRunning, failure } = useChange(operation, ...stale);
  const [typed, setTyped] = useState("");
  const go = async () => {
    const answer = await run(input);
    if (answer === undefined) return;
    if (done !== undefined) toast(typeof done === "string" ? done : done(answer));
    onClose();
    onDone?.();
  };
  return (
    <FormDialog
      {...{ title, deed, isRunning, failure, onClose, onSubmit: go }}
      isDisabled={typedName !== undefined && typed !== typedName}
      isDangerous
    >
      {children}
      {typedName !== undefined && (
        <TextField label={`Type ${typedName} to go on`} value={typed} onChange={setTyped} autoComplete="off" />
      )}
    </FormDialog>
  );
}
