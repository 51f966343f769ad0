import type { DeviceToken } from "@downlink/protocol";
import { CommandText } from "../parts/command-text.tsx";
import { Copy } from "../parts/copy.tsx";
import { enrollCommands, SERVICE_COMMAND } from "./enroll-text.ts";

/** A new token, whose text is never shown again, with the commands that bring it to the robot. */
export function TokenOnce({ token }: { token: DeviceToken }) {
  const commands = enrollCommands({ origin: location.origin });
  return (
    <div class="stack">
      <p>
        <strong>The token is shown this once.</strong> Copy it now; whoever has it is this device.
      </p>
      <div class="row secret">
        <code data-secret>{token.token}</code>
        <Copy text={token.token ?? ""} label="Copy the token" />
      </div>
      <p>
        On the robot, in a checkout of Downlink (Linux or macOS, any Node.js from 18 on). The first command asks for the
        token:
      </p>
      <CommandText text={commands} />
      <div class="row">
        <Copy text={commands} label="Copy the commands" />
        <span class="muted">As a service:</span>
        <Copy text={SERVICE_COMMAND} />
      </div>
      {location.protocol === "http:" && !/^(localhost|127\.|\[::1\])/.test(location.hostname) && (
        <p class="field-problem">This page came by plain http: everybody on the way reads the token.</p>
      )}
    </div>
  );
}
