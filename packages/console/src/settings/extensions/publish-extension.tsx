import { extensions, MAX_EXTENSION_BYTES } from "@downlink/protocol";
import { useRef, useState } from "preact/hooks";
import { invalidate } from "../../api/queries.ts";
import { useSend } from "../../api/use-change.ts";
import { Button } from "../../parts/button.tsx";
import { formatBytes } from "../../parts/bytes.ts";
import { Field } from "../../parts/field.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { toast } from "../../parts/toast.tsx";

export function PublishExtension() {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button text="Publish a version" class="primary" onClick={() => setOpen(true)} />
      {isOpen && <PublishDialog onClose={() => setOpen(false)} />}
    </>
  );
}

/** Publishes an extension. Its name and its version stand in the package itself. */
function PublishDialog({ onClose }: { onClose: () => void }) {
  const input = useRef<HTMLInputElement>(null);
  const [problem, setProblem] = useState<string | undefined>();
  const { send, isRunning, failure } = useSend();
  const publish = async () => {
    const file = input.current?.files?.[0];
    if (!file) return;
    if (file.size > MAX_EXTENSION_BYTES)
      return setProblem(`It has ${formatBytes(file.size)}; at most ${formatBytes(MAX_EXTENSION_BYTES)} are allowed.`);
    if (!(await send("POST", "/v1/extension-upload", file))) return;
    invalidate(extensions.list);
    toast(`${file.name} is published.`);
    onClose();
  };
  return (
    <FormDialog {...{ isRunning, failure, onClose }} title="Publish a version" deed="Publish" onSubmit={publish}>
      <Field label="Package" hint="A .foxe file. A version that is there already is not replaced." problem={problem}>
        {(attributes) => (
          <input
            {...attributes}
            ref={input}
            type="file"
            accept=".foxe"
            required
            onChange={() => setProblem(undefined)}
          />
        )}
      </Field>
    </FormDialog>
  );
}
