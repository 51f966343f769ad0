import { invalid } from "../../core/errors.ts";

/** Behind its first slash stands a letter or digit, so that no browser and no proxy takes what follows for a host. */
const PATH = /^\/([A-Za-z0-9_?#][\x21-\x5b\x5d-\x7e]*)?$/;
const MAX_LENGTH = 1000;

/** Returns where the browser goes after the sign-in: a path of our own, or `/`. */
export function readNext(text: string | undefined, publicUrl: string): string {
  if (text === undefined || text === "") return "/";
  if (text.length > MAX_LENGTH || !PATH.test(text)) return refuseNext();
  const { origin, pathname, search, hash } = new URL(text, publicUrl);
  if (origin !== new URL(publicUrl).origin || pathname.startsWith("//")) return refuseNext();
  return `${pathname}${search}${hash}`;
}

function refuseNext(): never {
  return invalid("next", "must be a path of this service, such as /recordings");
}
