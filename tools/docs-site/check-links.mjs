import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** Every link of the built site leads to a file of it, and to an element with that id. Prints each that does not, and exits with 1. */
const SITE = resolve(import.meta.dirname, 'dist');
const pages = readdirSync(SITE, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.html'));
const text = new Map(pages.map((page) => [page, readFileSync(join(SITE, page), 'utf8')]));
const ids = new Map(
  [...text].map(([page, html]) => [page, new Set([...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id))]),
);

function faultOf(page, href) {
  if (/^(https?:|mailto:|data:)/.test(href)) return undefined;
  const [path, anchor] = href.split('#');
  const file = path === '' ? page : join(path.startsWith('/') ? path : join('/', dirname(page), path)).slice(1);
  const target = [file, `${file}.html`, join(file, 'index.html')].find(
    (name) => existsSync(join(SITE, name)) && statSync(join(SITE, name)).isFile(),
  );
  if (target === undefined) return 'no such file';
  return anchor && ids.has(target) && !ids.get(target).has(decodeURIComponent(anchor)) ? 'no such heading' : undefined;
}

let links = 0;
let dead = 0;
for (const [page, html] of text)
  for (const [, href] of html.matchAll(/<a\b[^>]*? href="([^"]*)"/g)) {
    links++;
    const fault = faultOf(page, href.replaceAll('&amp;', '&'));
    if (fault === undefined) continue;
    dead++;
    console.error(`${page}: ${href}: ${fault}`);
  }
console.log(`${pages.length} pages, ${links} links, ${dead} dead`);
process.exitCode = dead > 0 || links < pages.length ? 1 : 0;
