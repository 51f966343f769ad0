import { z } from "zod";
import { Timestamp } from "./time.ts";

/** The maker of a token: an API key, a member, or by enrolment a device token that belongs to no device. */
export const TokenMaker = z.object({
  kind: z.enum(["apiKey", "member", "deviceToken"]),
  id: z.string(),
  name: z.string().optional().meta({ description: "The name of the key or member, as it was when it made the token" }),
});
export type TokenMaker = z.infer<typeof TokenMaker>;

/** The fields that identify a token without its text. They are spread into what is shown of every kind of token. */
export const tokenFacts = {
  hint: z
    .string()
    .optional()
    .meta({ description: "The last four characters of its text; absent where that was never known" }),
  createdBy: TokenMaker.optional().meta({ description: "Absent where the deployment made it, or an earlier version" }),
  lastUsedAt: Timestamp.optional().meta({
    description: "To the minute, and at most a minute late; absent while it was never used",
  }),
  expiresAt: Timestamp.optional().meta({ description: "From then on it is as if it were disabled; absent: never" }),
};

/** These fields are spread into the body that makes a token. */
export const tokenExpiry = {
  expiresAt: Timestamp.optional().meta({ description: "In the future; absent: it never expires" }),
};
