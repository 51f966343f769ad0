import { ApiCallError } from "@downlink/client";
import { api, type Output } from "@downlink/protocol";
import { isCloudFailure } from "./describe-failure.ts";
import type { CloudSession } from "./session.ts";

/** The part of a file that a person on the device asks for, as the command line sends it to the agent: times are texts. */
export interface PartAsked {
  readonly topics?: readonly string[] | undefined;
  readonly start?: string | undefined;
  readonly end?: string | undefined;
}

/** Checks and reads a {@link PartAsked}. */
export const partSchema = api.recordingCuts.estimate.body;

interface PartAnswer {
  readonly result: "done" | "already" | "refused";
  readonly text: string;
}

/** Asks the control plane for a part of a file. A failure is an answer, too. */
export async function askForPart(
  session: Pick<CloudSession, "call">,
  { versionId, part }: { readonly versionId: string; readonly part: PartAsked },
  signal: AbortSignal,
): Promise<PartAnswer> {
  const asked = { ...partSchema.parse(part), versionId };
  try {
    const answer = await session.call(api.edge.requestImports, { versionIds: [], part: asked }, { signal });
    return describeAnswer(answer);
  } catch (failure) {
    if (signal.aborted) return refused(NOT_ANSWERED);
    if (!isCloudFailure(failure)) throw failure;
    return refused(describeRefusal(failure));
  }
}

const NOT_ANSWERED = "the control plane does not answer; a request for a part is not kept, so ask again once it does";

function refused(text: string): PartAnswer {
  return { result: "refused", text };
}

function describeRefusal(failure: Error): string {
  if (!(failure instanceof ApiCallError)) return NOT_ANSWERED;
  if (failure.code === "NotFound")
    return "the control plane does not know it yet, or is deleting it, or is too old for requests from the device; ask again in a minute";
  return [failure.message, ...failure.details.map(({ path, message }) => `${path} ${message}`)].join("; ");
}

function describeAnswer({ part }: Output<typeof api.edge.requestImports>): PartAnswer {
  if (!part)
    return refused("the control plane is too old for requests of parts from the device; it was asked for nothing");
  const { importStatus, cuts } = part;
  if (!cuts) {
    const text =
      importStatus === "complete" ? "all of it is in the control plane already" : "all of it is being imported";
    return { result: "already", text };
  }
  const left = cuts.filter((cut) => cut.importStatus === "pending" || cut.importStatus === "importing").length;
  if (left > 0) return { result: "done", text: "the part is asked for; it is cut and uploaded when its turn comes" };
  const failure = cuts.find((cut) => cut.failure)?.failure;
  if (failure) return refused(failure.text);
  return { result: "already", text: "this part is in the control plane already" };
}
