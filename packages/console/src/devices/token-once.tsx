import type { DeviceToken } from "@downlink/protocol";
import { plainCall } from "../api/plain-call.ts";
import { useFetched } from "../api/use-query.ts";
import { CommandText } from "../parts/command-text.tsx";
import { Copy } from "../parts/copy.tsx";
import { enrollCommands, installLine } from "./enroll-text.ts";

const PACKAGES = "/agent-packages";

/** Shows a new token, whose text is never shown again, with the commands that bring it to the robot. */
export function TokenOnce({ token }: { token: DeviceToken }) {
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
      <div class="row secret">
        <code data-secret>{token.token}</code>
        <Copy text={token.token ?? ""} label="Copy the token" />
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
