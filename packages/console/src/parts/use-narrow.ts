import { useEffect, useState } from "preact/hooks";

const narrow = "(max-width: 719px)";

/** Returns whether the page is as narrow as a phone, on which rows have two lines. */
export function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(() => matchMedia(narrow).matches);
  useEffect(() => {
    const media = matchMedia(narrow);
    const follow = () => setNarrow(media.matches);
    media.addEventListener("change", follow);
    return () => media.removeEventListener("change", follow);
  }, []);
  return isNarrow;
}
