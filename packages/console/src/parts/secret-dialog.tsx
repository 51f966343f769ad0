import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "./button.tsx";
import { Copy } from "./copy.tsx";
import { Dialog } from "./dialog.tsx";
import { useLeaveGuard } from "./leave-guard.ts";
import "./secret-dialog.css";

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
  const [isAsked, setAsked] = useState(false);
  useLeaveGuard(!isCopied, () => setAsked(true));
  const close = () => (isCopied ? onClose() : setAsked(true));
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
      {isAsked && !isCopied ? (
        <div class="failed stack" role="alert">
          <p>It was not copied yet. If you lose it, you have to make another one.</p>
          <div class="dialog-actions">
            <Button text="Stay" onClick={() => setAsked(false)} />
            <Button text="Close without it" class="danger" onClick={onClose} />
          </div>
        </div>
      ) : (
        <div class="dialog-actions">
          <Button text="Done" class={isCopied ? "primary" : ""} onClick={close} />
        </div>
      )}
    </Dialog>
  );
}
