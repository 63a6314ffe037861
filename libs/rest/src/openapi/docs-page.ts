import { createHash } from 'node:crypto';
import { docsScript } from './docs-script';

const STYLE = `
:root { color-scheme: light dark; --line: #8885; --soft: #8882; --mark: #2f7dd1; }
* { box-sizing: border-box; }
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; display: grid; grid-template-columns: 15rem 1fr; min-height: 100vh; }
nav { border-right: 1px solid var(--line); padding: 1rem; position: sticky; top: 0; height: 100vh; overflow: auto; }
nav a { display: block; color: inherit; text-decoration: none; padding: .15rem 0; }
nav a:hover { color: var(--mark); }
main { padding: 1rem 2rem; max-width: 60rem; min-width: 0; }
h1 { font-size: 1.4rem; } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
details { border: 1px solid var(--line); border-radius: .4rem; margin: .5rem 0; }
summary { cursor: pointer; padding: .4rem .8rem; display: flex; gap: .8rem; align-items: baseline; }
details[open] summary { background: var(--soft); }
.body { padding: .2rem .8rem .8rem; }
.verb { font: 600 12px/1 ui-monospace, monospace; width: 4rem; color: var(--mark); text-transform: uppercase; }
code, pre { font: 13px/1.45 ui-monospace, monospace; }
pre { background: var(--soft); padding: .6rem .8rem; border-radius: .4rem; overflow: auto; max-height: 30rem; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; padding: .25rem .6rem .25rem 0; vertical-align: top; border-top: 1px solid var(--line); }
button { font: inherit; padding: .2rem .8rem; } .note { opacity: .7; }
@media (max-width: 50rem) { body { display: block; } nav { position: static; height: auto; } }
`;

/** A page to browse /openapi.json; it brings everything with it and asks no other server for anything. */
export const DOCS_PAGE = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Causeway REST</title><style>${STYLE}</style></head>
<body><nav aria-label="Kinds"></nav><main><p class="note">Reading /openapi.json …</p></main>
<noscript>This page shows <a href="/openapi.json">openapi.json</a> with a script.</noscript>
<script>${docsScript}</script></body></html>
`;

/** Headers of the page: it may run its own script and speak with this server, nothing else. */
export const DOCS_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src ${hashOf(STYLE)}; script-src ${hashOf(docsScript)}; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
