import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "./button.tsx";
import { Copy } from "./copy.tsx";
import { Dialog } from "./dialog.tsx";
import "./secret-dialog.css";
import { useSecretGuard } from "./close-guard.tsx";

interface SecretProps {
  readonly title: string;
  readonly secret: string;
  /** Says what the secret is for, and where it belongs. */
  readonly children?: ComponentChildren;
  readonly onClose: () => void;
}

/** Shows a secret, which cannot be seen again. A user who leaves before it was copied is asked first. */
export function SecretDialog({ title, secret, children, onClose }: SecretProps) {
  const [isCopied, setCopied] = useState(false);
  const { close, question } = useSecretGuard(isCopied, onClose);
  return (
    <Dialog title={title} onClose={close}>
      {children}
      <p>
        <strong>It is shown only once.</strong> Nobody can look it up later.
      </p>
      <p class="secret">
        <code onCopy={() => setCopied(true)}>{secret}</code>
      </p>
      <div class="row">
        <Copy text={secret} label="Copy" onCopied={() => setCopied(true)} />
      </div>
      {question ?? (
        <div class="dialog-actions">
          <Button text="Done" class={isCopied ? "primary" : ""} onClick={close} />
        </div>
      )}
    </Dialog>
  );
}
