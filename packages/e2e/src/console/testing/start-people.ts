import { startCloud, type TestCloud } from "@downlink/cloud/testing";
import { api, type MemberRole } from "@downlink/protocol";
import type { Browser } from "playwright-core";
import { openPage, signIn, startBrowser, type Watched } from "./browser.ts";

export const PASSWORD = "correct horse battery";

export interface PeopleScenario extends TestCloud {
  readonly browser: Browser;
  readonly projectId: string;
  /** Opens a page in a browser of its own, signed in with an API key; without one as the admin. */
  open(
    path: string,
    options?: { readonly key?: string; readonly look?: Parameters<typeof openPage>[1] },
  ): Promise<Watched>;
  /** Opens a page in a browser of its own, in which no user is signed in. */
  openAlone(path: string): Promise<Watched>;
  /** Opens a page as a new member. */
  openAsMember(path: string, email: string, role?: MemberRole): Promise<Watched>;
}

/** A control plane with its pages, and a browser for each person, all real, closed with the test. */
export async function startPeople(
  t: { after(close: () => Promise<unknown>): void },
  environment: Readonly<Record<string, string>> = {},
): Promise<PeopleScenario> {
  const withPages = { ...environment, DOWNLINK_CONSOLE: "on" };
  const cloud = await startCloud(t as Parameters<typeof startCloud>[0], { environment: withPages });
  const browser = await startBrowser();
  t.after(() => browser.close());
  const { projects } = await cloud.admin.call(api.me.get, {});
  const openAlone = async (path: string) => {
    const watched = await openPage(browser);
    await watched.page.goto(cloud.url + path);
    return watched;
  };
  return {
    ...cloud,
    browser,
    projectId: projects[0]!.id,
    openAlone,
    async open(path, { key = cloud.adminKey, look } = {}) {
      const watched = await openPage(browser, look);
      await signIn(watched.page, cloud.url, key);
      await watched.page.goto(cloud.url + path);
      return watched;
    },
    async openAsMember(path, email, role = "user") {
      const { link } = await cloud.admin.call(api.invitations.create, { email, role });
      const watched = await openPage(browser);
      const body = { data: { token: link!.split("#")[1], password: PASSWORD }, headers: { origin: cloud.url } };
      const answer = await watched.page.request.post(`${cloud.url}/v1/session/invitation`, body);
      if (!answer.ok()) throw new Error(`joining: ${answer.status()} ${await answer.text()}`);
      await watched.page.goto(cloud.url + path);
      return watched;
    },
  };
}
