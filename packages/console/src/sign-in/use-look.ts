import { useEffect, useState } from "preact/hooks";
import { explainFailure, type Failure } from "../api/failure.ts";
import { plainCall } from "../api/plain-call.ts";

interface Look<T> {
  readonly seen: T | undefined;
  readonly failure: Failure | undefined;
  again(): void;
}

/** Asks what a link is for. The secret goes in the body, and the link is not used up by it. */
export function useLook<T>(path: string, token: string | undefined): Look<T> {
  const [tries, setTries] = useState(0);
  const [looked, setLooked] = useState<Pick<Look<T>, "seen" | "failure">>({ seen: undefined, failure: undefined });
  useEffect(() => {
    if (token === undefined) return;
    let isOld = false;
    plainCall("POST", path, { token }).then(
      (seen) => isOld || setLooked({ seen: seen as T, failure: undefined }),
      (error) => isOld || setLooked({ seen: undefined, failure: explainFailure(error) }),
    );
    return () => {
      isOld = true;
    };
  }, [path, token, tries]);
  return { ...looked, again: () => setTries(tries + 1) };
}
