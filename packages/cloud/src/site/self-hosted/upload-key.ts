/** Says whether the key is one of a file that the site received, and not of an index or a file by topic. */
export function isUpload(key: string): boolean {
  return /^[^/]+\/upl_[0-9a-z]{26}$/.test(key);
}
