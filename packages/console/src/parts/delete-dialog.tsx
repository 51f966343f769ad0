import type { CallInput, Operation, Output } from "@downlink/protocol";
import type { ComponentChildren } from "preact";
import { useChange } from "../api/use-change.ts";
import { Confirm } from "./confirm.tsx";
import { toast } from "./toast.tsx";

interface DeleteProps<O extends Operation> {
  readonly operation: O;
  readonly input: CallInput<O>;
  readonly stale: readonly Operation[];
  readonly title: string;
  readonly deed: string;
  /** The message once it is done. */
  readonly done?: string | ((answer: Output<O>) => string);
  readonly typedName?: string;
  readonly children: ComponentChildren;
  readonly onClose: () => void;
  readonly onDone?: () => void;
}

/** Asks before an operation that takes something away, and says in place why it was refused. */
export function DeleteDialog<O extends Operation>(props: DeleteProps<O>) {
  const { operation, input, stale, title, deed, done, typedName, children, onClose, onDone } = props;
  const { run, failure } = useChange(operation, ...stale);
  const go = async () => {
    const answer = await run(input);
    if (answer === undefined) return;
    if (done !== undefined) toast(typeof done === "string" ? done : done(answer));
    onClose();
    onDone?.();
  };
  return (
    <Confirm
      {...{ title, deed, failure, onClose, ...(typedName !== undefined && { typedName }) }}
      onConfirm={() => void go()}
    >
      {children}
    </Confirm>
  );
}
