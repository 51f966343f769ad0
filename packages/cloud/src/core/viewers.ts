// Viewers of other makers, which open links in a browser. No data goes to the page of another unless the operator named it.

import { ViewForm } from "@downlink/protocol";
import { z } from "zod";

const MOST_VIEWERS = 10;

/** A page that opens links, whose address has the place of the link. Links that leave this machine go only to pages by https. */
const ViewerAddress = z
  .string()
  .refine((text) => /^(https:\/\/|http:\/\/(localhost|127\.0\.0\.1)[:/])/.test(text) && URL.canParse(text), {
    error: "must be an address that begins with https://, or with http://localhost",
  })
  .refine((text) => text.includes("{link}"), "must have {link} in the place of the link");

/** Reads the setting that names them: JSON, as `[{"name": "…", "url": "https://…{link}", "as": "file"}]`. */
export const Viewers = z
  .string()
  .transform((text, context) => {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      context.addIssue("must be JSON");
      return z.NEVER;
    }
  })
  .pipe(
    z
      .array(
        z.strictObject({
          name: z.string().min(1).max(60),
          url: ViewerAddress,
          as: ViewForm.default("file"),
        }),
      )
      .max(MOST_VIEWERS),
  );

/** A viewer as the operator named it: its address has `{link}` in the place of the link. */
export type NamedViewer = z.infer<typeof Viewers>[number];

export function originOf({ url }: NamedViewer): string {
  return new URL(url).origin;
}
