import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { defineConfig } from 'vitepress';

const ROOT = resolve(import.meta.dirname, '../../..');
const DOCS = join(ROOT, 'docs');

/** The sidebar is the list of docs/README.md, so that no page is listed twice: its headings, and the links below each. */
function sidebar() {
  const sections = readFileSync(join(DOCS, 'README.md'), 'utf8').split(/^## /m).slice(1);
  return sections.map((section) => {
    const links = [...section.matchAll(/\[([^\]]+)\]\(([^)#:]+\.md)\)/g)].map(([, text, to]) => ({
      text,
      link: `/${to}`,
    }));
    return {
      text: section.split('\n', 1)[0].split(':')[0],
      collapsed: !/^(Understand|Do)/.test(section),
      items: links,
    };
  });
}

const LANGUAGES = [
  'bash',
  'console',
  'diff',
  'hcl',
  'http',
  'ini',
  'js',
  'json',
  'mermaid',
  'nginx',
  'proto',
  'sh',
  'sql',
  'toml',
  'ts',
  'yaml',
];

/** The first word of a block is its language, or says how a test reads it; then it is shown as it is. */
function named(token) {
  if (token.type !== 'fence') return;
  const [language] = token.info.trim().split(/\s/);
  token.info = LANGUAGES.includes(language) ? language : 'txt';
}

/** Links to what is no page (files and folders of the repository) are left out; test/docs holds that they exist. */
function onlyPages(tokens, page) {
  let left = false;
  for (const { children } of tokens)
    for (const token of children ?? []) {
      if (token.type === 'link_open') left = !isPage(token.attrGet('href'), page);
      if (left && /^link_/.test(token.type)) [token.type, token.tag, token.attrs] = ['text', '', null];
    }
}

function isPage(href, page) {
  if (/^(#|https?:)/.test(href)) return true;
  const [path] = href.split('#');
  const file = resolve(DOCS, dirname(page), path);
  return file.startsWith(`${DOCS}/`) && file.endsWith('.md') && existsSync(file);
}

/** As GitHub makes the anchors of headings, which the links of the pages have. */
const slugify = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replace(/ /g, '-');

export default defineConfig({
  title: 'Causeway',
  description: 'A multizone service-mesh control plane',
  srcDir: 'pages',
  outDir: 'dist',
  cacheDir: 'dist/.cache',
  base: process.env.DOCS_BASE ?? '/',
  rewrites: { 'README.md': 'index.md' },
  lastUpdated: false,
  // Pages are Markdown and nothing else: `{{ name }}` is a template of hostnames, `<name>` a word.
  vue: { template: { compilerOptions: { delimiters: ['\u0001', '\u0002'] } } },
  markdown: {
    html: false,
    anchor: { slugify },
    config: (markdown) =>
      markdown.core.ruler.push('pages', ({ tokens, env }) => {
        tokens.forEach(named);
        onlyPages(tokens, env.relativePath);
      }),
  },
  // `pages` is a link to docs/, so that the pages find the packages of this folder.
  vite: { resolve: { preserveSymlinks: true }, build: { chunkSizeWarningLimit: 4_000 } },
  themeConfig: { sidebar: sidebar(), search: { provider: 'local' }, outline: [2, 3] },
});
