import { join } from "node:path";
import { defineConfig } from "vitepress";
import { headingAnchor } from "../../../scripts/heading-anchor.ts";
import { findVue } from "../src/find-vue.ts";
import { finishSite } from "../src/finish-site.ts";
import { DOCS, ROOT } from "../src/places.ts";
import { readSidebar } from "../src/read-sidebar.ts";
import { shapePages } from "../src/shape-pages.ts";

export default defineConfig({
  title: "Downlink",
  titleTemplate: ":title · Downlink",
  description: "The documentation of Downlink, an open, self-hostable data platform for robots",
  lang: "en",
  srcDir: DOCS,
  outDir: join(ROOT, "dist"),
  cacheDir: join(ROOT, "node_modules/.cache"),
  base: "/guide/",
  cleanUrls: true,
  // To stop transitions it would write a sheet of styles into the page, which the policy refuses.
  appearance: { disableTransition: false },
  head: [["link", { rel: "icon", type: "image/svg+xml", href: "/icon.svg" }]],
  markdown: { anchor: { slugify: headingAnchor }, toc: { slugify: headingAnchor }, config: shapePages },
  themeConfig: {
    sidebar: readSidebar(),
    outline: [2, 3],
    search: { provider: "local", options: { detailedView: true } },
    externalLinkIcon: true,
    notFound: {
      title: "There is no such page",
      quote: "It may have moved: search for it, or look through all pages.",
      linkText: "All pages",
    },
  },
  vite: {
    plugins: [findVue],
    // The policy of the site takes no font or picture from a data URL.
    build: { assetsInlineLimit: 0 },
  },
  buildEnd: ({ outDir }) => finishSite(outDir),
});
