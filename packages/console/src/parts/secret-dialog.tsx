import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Button } from "./button.tsx";
import { Copy } from "./copy.tsx";
import { Dialog } from "./dialog.tsx";
import "./secret-dialog.css";
import { useSecretGuard } from "./secret-guard.tsx";

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

/**
 * Guards a page while it is on: the browser asks before the page is closed or loaded again, and Back stays on the page. An entry of the
 * same address is put before it, so that Back only takes that away, and `onBack` is called.
 */
function useLeaveGuard(isOn: boolean, onBack: () => void): void {
  useEffect(() => {
    if (!isOn) return;
    const put = () => history.pushState(history.state, "", location.href);
    const unload = (event: BeforeUnloadEvent) => event.preventDefault();
    const back = () => {
      put();
      onBack();
    };
    put();
    addEventListener("beforeunload", unload);
    addEventListener("popstate", back);
    return () => {
      removeEventListener("beforeunload", unload);
      removeEventListener("popstate", back);
      history.back();
    };
  }, [isOn]);
}
