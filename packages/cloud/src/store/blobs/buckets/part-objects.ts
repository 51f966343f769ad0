/** Where a bucket has no uploads in parts of its own, parts are objects below this prefix: `_parts/<key>/<upload id>/<part number>`. */
export const PARTS = "_parts/";
