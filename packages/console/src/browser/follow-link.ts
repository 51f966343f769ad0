/** Leads to an address as a link to it does, so that a page with something that is not saved asks first. */
export function followLink(href: string): void {
  const link = document.createElement("a");
  link.href = href;
  document.body.append(link);
  link.click();
  link.remove();
}
