/** Only a path of this service: an address of somebody else's would lead to their copy of this page. */
export function safeNext(next: string | undefined, origin: string): string {
  if (next === undefined || !next.startsWith("/")) return "/";
  const url = URL.parse(next, origin);
  return url?.origin === origin ? url.pathname + url.search : "/";
}
