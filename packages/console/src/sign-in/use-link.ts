import { useEffect, useState } from "preact/hooks";
import { explainRefusal, type Failure } from "../api/failure.ts";
import { plainCall } from "../api/plain-call.ts";

interface Link<T> {
  readonly secret: string | undefined;
  readonly seen: T | undefined;
  readonly failure: Failure | undefined;
  again(): void;
}

/** Asks what the link is for that was opened. Its secret goes in the body, and the link is not used up by it. */
export function useLink<T>(path: string): Link<T> {
  const secret = useLinkSecret();
  const [tries, setTries] = useState(0);
  const [looked, setLooked] = useState<Pick<Link<T>, "seen" | "failure">>({ seen: undefined, failure: undefined });
  useEffect(() => {
    if (secret === undefined) return;
    let isOld = false;
    plainCall("POST", path, { token: secret }).then(
      (seen) => isOld || setLooked({ seen: seen as T, failure: undefined }),
      (error) => isOld || setLooked({ seen: undefined, failure: explainRefusal(error) }),
    );
    return () => {
      isOld = true;
    };
  }, [path, secret, tries]);
  return { secret, ...looked, again: () => setTries(tries + 1) };
}

/**
 * Takes the secret of a link from behind its # and out of the address, so that it is neither in the history nor on the screen. After a
 * reload it is gone. Another link that is opened in the same tab replaces it.
 */
function useLinkSecret(): string | undefined {
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
