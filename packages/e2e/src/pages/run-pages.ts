import assert from "node:assert/strict";
import { makeMcap } from "@downlink/recordings/testing";
import { type Page, readPage } from "./read-page.ts";
import { runInSandbox } from "./sandbox.ts";

interface Reader {
  /** The variables that readers of the page set themselves. */
  readonly env?: Readonly<Record<string, string>>;
  /** How they reach the control plane, as arguments of curl. */
  readonly curl: string;
}

const untilComplete =
  'until call http://downlink.test/v1/recordings | grep \'"importStatus":"complete"\'; do sleep 1; done\n';

/** Uploads a recording, as a client does. The pages do not say how, but a backup without a recording would prove little. */
function uploadOne(curl: string): string {
  const body = '{"filename": "a.mcap", "deviceName": "uploading"}';
  return `call() { curl -fsS ${curl} -H "Authorization: Bearer $KEY" "$@"; }
    LINK=$(call -H 'Content-Type: application/json' -d '${body}' http://downlink.test/v1/data/upload | sed 's/.*"link":"\\([^"]*\\)".*/\\1/')
    curl -fsS ${curl} --upload-file /srv/page/a.mcap "$LINK"
    ${untilComplete}`;
}

/** Runs a page and then that of backups, command by command. Fails with everything that they printed if a command fails. */
export async function runPages(way: Page, { env = {}, curl }: Reader): Promise<void> {
  const pages = [readPage(way, way), uploadOne(curl), readPage("backup-and-restore", way), untilComplete];
  const files = { "a.mcap": await makeMcap() };
  const { code, output } = await runInSandbox(`${pages.join("")}echo the page has ended`, { env, files });
  assert.equal(code, 0, output);
  assert.match(output, /^[1-9]\d* objects of [1-9]\d* bytes/m, "objects are in the backup");
  assert.match(output, /^[1-9]\d* objects$/m, "objects are restored");
  assert.match(output, /the object store agree\n[\s\S]*the object store agree\n[\s\S]*^the page has ended$/m, output);
}
