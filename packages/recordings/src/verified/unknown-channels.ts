import { addTally, hasChannel, type Survey, type Tally } from "../survey/survey.ts";
import type { DamageLog } from "./damage-log.ts";

/** Keeps the messages of channels that nothing has introduced yet: the summary or the index may do so behind them. */
export interface UnknownChannels {
  add(channelId: number, tally: Tally): void;
  /** Gives the messages of channels that are known by now to the survey, and notes the others as lost. */
  settle(survey: Survey, damage: DamageLog): void;
}

export function createUnknownChannels(): UnknownChannels {
  const unknown = new Map<number, Tally[]>();
  return {
    add(channelId, tally) {
      const tallies = unknown.get(channelId) ?? [];
      unknown.set(channelId, tallies);
      if (tallies.length < MOST_TALLIES) tallies.push(tally);
      else tallies[MOST_TALLIES - 1]!.messageCount += tally.messageCount;
    },
    settle(survey, damage) {
      for (const [channelId, tallies] of unknown) {
        if (hasChannel(survey, channelId)) for (const tally of tallies) addTally(survey, channelId, tally);
        else noteUnknown(damage, channelId, countOf(tallies));
      }
    },
  };
}

/** There may be millions of loose messages. The times of the last ones do not count. */
const MOST_TALLIES = 100_000;

function countOf(tallies: readonly Tally[]): number {
  return tallies.reduce((sum, { messageCount }) => sum + messageCount, 0);
}

/** Messages of a channel that nothing introduces cannot be given, because it is not known what they are. */
export function noteUnknown(damage: DamageLog, channelId: number, messageCount: number): void {
  damage.addUnknownChannel({ code: "BadRecord", text: describeUnknown(channelId, messageCount) }, messageCount);
}

export function describeUnknown(channelId: number, messageCount: number): string {
  return `${messageCount} messages are of channel ${channelId}, which is not in the file`;
}
