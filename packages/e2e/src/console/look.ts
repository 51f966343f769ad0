// Takes pictures of every page for people to look at: npm run console:look -- URL KEY FOLDER
//
// `npm run demo -- --keep` prints URL and key. The two pictures of README.md are made by `--readme`, in the folder `docs`.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { allPages } from "./testing/all-pages.ts";
import { openPage, signIn, startBrowser } from "./testing/browser.ts";

const [url, key, folder, only] = process.argv.slice(2);
if (!url || !key || !folder) throw new Error("usage: look.ts URL KEY FOLDER [--readme]");

await mkdir(folder, { recursive: true });
const me = await fetch(`${url}/v1/me`, { headers: { authorization: `Bearer ${key}` } });
const { projects } = (await me.json()) as { projects: { id: string }[] };
const today = new Date();
const yearAgo = new Date(today.getTime() - 366 * 86_400_000);
const dayOf = (date: Date) => date.toISOString().slice(0, 10);
/** The demo's fleet recorded in the year up to now. */
const year = `from=${dayOf(yearAgo)}&to=${dayOf(new Date(today.getTime() + 86_400_000))}`;
const pages = allPages(projects[0]!.id).map(([name, path]) => [name, path.replace(/from=.*/, year)] as const);
const wanted = only === "--readme" ? pages.slice(0, 2) : pages;

await using browser = await startBrowser();
for (const theme of only === "--readme" ? (["light"] as const) : (["light", "dark"] as const))
  for (const width of only === "--readme" ? [1280] : [1280, 390]) {
    const { page, complaints, context, settled } = await openPage(browser, { theme, width });
    await signIn(page, url, key);
    for (const [name, path] of wanted) {
      await page.goto(url + path);
      await settled();
      const file = only === "--readme" ? `console-${name}.png` : `${name}-${theme}-${width}.png`;
      await page.screenshot({ path: join(folder, file) });
    }
    for (const complaint of complaints) console.error(complaint);
    await context.close();
  }
