/** Returns by which name a link leads to a heading, as hosts of repositories name it: small letters, hyphens for spaces, no other marks. */
export function headingAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .trim()
    .replaceAll(" ", "-");
}
