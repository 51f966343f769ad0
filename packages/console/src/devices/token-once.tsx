import type { DeviceToken } from "@downlink/protocol";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { plainCall } from "../api/plain-call.ts";
import { useFetched } from "../api/use-query.ts";
import { Button } from "../parts/button.tsx";
import { useSecretGuard } from "../parts/close-guard.tsx";
import { CommandText } from "../parts/command-text.tsx";
import { Copy } from "../parts/copy.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { enrollCommands, installLine } from "./enroll-text.ts";

const PACKAGES = "/agent-packages";

interface DialogProps {
  readonly title: string;
  readonly token: DeviceToken;
  /** The token has reached the robot: it need not be copied any more. */
  readonly isUsed?: boolean;
  /** Stands before the token, */
  readonly head: ComponentChildren;
  /** and behind it. */
  readonly children?: ComponentChildren;
  readonly onClose: () => void;
}

/** Shows a new token, whose text is never shown again. A user who leaves before it was copied or used is asked first. */
export function TokenDialog({ title, token, isUsed = false, head, children, onClose }: DialogProps) {
  const [isCopied, setCopied] = useState(false);
  const isSafe = isCopied || isUsed;
  const { close, question } = useSecretGuard(isSafe, onClose);
  return (
    <Dialog title={title} isWide onClose={close}>
      {head}
      <TokenText token={token} onCopied={() => setCopied(true)} />
      {children}
      {question ?? (
        <div class="dialog-actions">
          <Button text="Done" class={isSafe ? "primary" : ""} onClick={close} />
        </div>
      )}
    </Dialog>
  );
}

/** Shows the token with the commands that bring it to the robot. */
function TokenText({ token, onCopied }: { token: DeviceToken; onCopied: () => void }) {
  const { origin } = location;
  const { data } = useFetched([PACKAGES, ""], () => plainCall("GET", PACKAGES) as Promise<{ files: string[] }>, {});
  const isHere = data?.files.some((name) => name.endsWith(".manifest.json.sig")) ?? false;
  const commands = isHere ? installLine({ origin }) : enrollCommands({ origin }, "package");
  const inCheckout = enrollCommands({ origin }, "checkout");
  return (
    <div class="stack">
      <p>
        <strong>The token is shown only once.</strong> Copy it now; anyone who has it can act as this device.
      </p>
      <div class="row token-once">
        <code data-secret onCopy={onCopied}>
          {token.token}
        </code>
        <Copy text={token.token ?? ""} label="Copy the token" onCopied={onCopied} />
      </div>
      <p>
        {isHere
          ? "On the robot. It installs the agent and asks for its folder with recordings and for the token:"
          : "On the robot, with the agent’s package in this folder. The second command asks for the token; /data is the folder with the recordings:"}
      </p>
      <CommandText text={commands} />
      <div class="row">
        <Copy text={commands} label="Copy the commands" />
      </div>
      <details>
        <summary class="muted">In a checkout of Downlink</summary>
        <CommandText text={inCheckout} />
        <Copy text={inCheckout} />
      </details>
      {location.protocol === "http:" && !/^(localhost|127\.|\[::1\])/.test(location.hostname) && (
        <p class="field-problem">This page came over plain http: anyone on the network path can read the token.</p>
      )}
    </div>
  );
}
