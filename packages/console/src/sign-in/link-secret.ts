import { useEffect, useState } from "preact/hooks";

/**
 * Takes the secret of a link from behind its # and out of the address, so that it is neither in the history nor on the screen. After a
 * reload it is gone. Another link that is opened in the same tab replaces it.
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
