import { join } from "node:path";

export const ROOT = join(import.meta.dirname, "..");
export const CHECKOUT = join(ROOT, "../..");
/** The pages, as people read them in the checkout. */
export const DOCS = join(CHECKOUT, "docs");
