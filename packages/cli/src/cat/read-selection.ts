import { getStream } from "@downlink/client/node";
import { type Message, readMcap } from "@downlink/messages/read-mcap";
import { type CallInput, exportLinks, type Output } from "@downlink/protocol";
import { waitOut } from "../files/wait-out.ts";
import type { Service } from "../login/open-service.ts";

type Selection = CallInput<typeof exportLinks.create>;

interface Asking {
  readonly selection: Selection;
  /** Judges the first answer of the service, before any message is read. */
  readonly onLink: (link: Output<typeof exportLinks.create>) => Promise<void>;
}

/**
 * Yields the messages of a selection in the order of their log times. After a break the rest is asked for, from the time of the last message
 * on, so that none is lost and none comes twice.
 */
export async function* readSelection(service: Service, { selection, onLink }: Asking): AsyncGenerator<Message> {
  const { client, signal, dispatcher } = service;
  let [failures, judge] = [0, onLink];
  let place: Place | undefined;
  for (;;) {
    try {
      const rest: Selection = place ? { ...selection, start: place.timeNs } : selection;
      const made: Output<typeof exportLinks.create> = await client.call(exportLinks.create, rest);
      await judge(made);
      judge = async () => {};
      for await (const message of skipTo(place, readMcap(getStream(made.link, { signal, dispatcher })))) {
        [place, failures] = [placeBehind(message, place), 0];
        yield message;
      }
      return;
    } catch (error) {
      failures += 1;
      await waitOut(error, failures, signal);
    }
  }
}

/** The time of the last message, and how many with that time came. */
interface Place {
  readonly timeNs: bigint;
  readonly count: number;
}

function placeBehind({ logTimeNs }: Message, before: Place | undefined): Place {
  return { timeNs: logTimeNs, count: logTimeNs === before?.timeNs ? before.count + 1 : 1 };
}

async function* skipTo(place: Place | undefined, messages: AsyncIterable<Message>): AsyncGenerator<Message> {
  let toSkip = place?.count ?? 0;
  for await (const message of messages) {
    if (toSkip > 0 && message.logTimeNs === place?.timeNs) toSkip -= 1;
    else yield message;
  }
}
