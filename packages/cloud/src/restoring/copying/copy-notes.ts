import { runSomeAtOnce } from "../../core/run-some-at-once.ts";
import { Prisma } from "../../db/generated/client.ts";
import { NOTE_KINDS } from "../../keeping/backup/copy-notes.ts";
import type { Session } from "../../keeping/integrity/listed-objects.ts";
import { pagesOf } from "../../keeping/integrity/suspects.ts";
import type { CopyDeps } from "./copy-deps.ts";
import { keepNotes } from "./listed-stores.ts";

const AT_ONCE = 8;

/** Copies the notes that the target lacks. With `isExact` it removes those that the source does not have any more. */
export async function copyNotes(
  { source, target, signal }: CopyDeps,
  session: Session,
  { isExact }: { isExact: boolean },
): Promise<void> {
  for (const kind of NOTE_KINDS) {
    await keepNotes(session, "there", target.listNotes(`${kind}/`));
    await keepNotes(session, "here", source.listNotes(`${kind}/`));
    const selectUnmatched = (one: string, other: string) =>
      Prisma.raw(`SELECT t.key FROM ${one} t WHERE NOT EXISTS (SELECT FROM ${other} o WHERE o.key = t.key)`);
    for await (const page of pagesOf<{ key: string }>(session, selectUnmatched("here", "there"))) {
      signal.throwIfAborted();
      await runSomeAtOnce(page, AT_ONCE, async ({ key }) => {
        const bytes = await source.getNote(key);
        if (bytes) await target.putNote(key, bytes);
      });
    }
    if (!isExact) continue;
    for await (const page of pagesOf<{ key: string }>(session, selectUnmatched("there", "here")))
      await runSomeAtOnce(page, AT_ONCE, ({ key }) => target.removeNote(key));
  }
}
