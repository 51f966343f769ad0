import { useEffect, useState } from "preact/hooks";

/**
 * Takes the secret of a link from behind its # and out of the address, so that neither the history nor somebody who looks at the screen has
 * it. A reload of the page has it no more. Another link that is opened in the same tab counts instead.
 */
export function useLinkSecret(): string | undefined {
  const [secret, setSecret] = useState(take);
  useEffect(() => {
    const onChange = () => setSecret((before) => take() ?? before);
    addEventListener("hashchange", onChange);
    return () => removeEventListener("hashchange", onChange);
  }, []);
  return secret;
}

function take(): string | undefined {
  const secret = location.hash.slice(1);
  if (secret === "") return undefined;
  history.replaceState(history.state, "", location.pathname + location.search);
  return secret;
}
