/** Returns the address only if it is a path of this service: another one could lead to a copy of this page. */
export function safeNext(next: string | undefined, origin: string): string {
  if (next === undefined || !next.startsWith("/")) return "/";
  const url = URL.parse(next, origin);
  return url?.origin === origin ? url.pathname + url.search : "/";
}
