import { z } from "zod";
import { Timestamp } from "../shapes/time.ts";
import { VersionId } from "./edge-items.ts";

/** Why a file may not be deleted now. The list is closed. */
export const PermitRefusal = z.enum([
  "Unknown",
  "NotARecording",
  "Suspended",
  "DeviceDisabled",
  "SettingOff",
  "OpenRequest",
  "ImportNotComplete",
  "HashDiffers",
  "SafetyPeriod",
  "TooYoung",
]);
export type PermitRefusal = z.infer<typeof PermitRefusal>;

/** The cloud's answer about the deletion of one file. */
export const PermitAnswer = z.discriminatedUnion("answer", [
  z.object({ versionId: VersionId, answer: z.literal("granted"), permitId: z.string(), expiresAt: Timestamp }),
  z.object({
    versionId: VersionId,
    answer: z.literal("refused"),
    code: PermitRefusal,
    text: z.string(),
    notBefore: Timestamp.optional().meta({ description: "When it is worth asking again, as far as that is known" }),
  }),
]);
export type PermitAnswer = z.infer<typeof PermitAnswer>;
