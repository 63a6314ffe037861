import { createHash } from 'node:crypto';

/** The script of the docs page; plain JavaScript that builds the page with text nodes only. */
const docsScript = `
'use strict';
const make = (tag, attributes, ...children) => {
  const element = Object.assign(document.createElement(tag), attributes);
  element.append(...children.filter((child) => child !== undefined));
  return element;
};
const pretty = (value) => make('pre', {}, JSON.stringify(value, null, 2));
const table = (heads, rows) => make('table', {},
  make('tr', {}, ...heads.map((head) => make('th', {}, head))),
  ...rows.map((row) => make('tr', {}, ...row.map((cell) => make('td', {}, cell)))));
const part = (title, content) => [make('h4', {}, title), content];

const resolve = (api, node) => node && node.$ref ? node.$ref.slice(2).split('/').reduce((at, key) => at[key], api) : node;
const typeOf = (schema) => !schema ? '' : schema.enum ? schema.enum.join(' | ') : [].concat(schema.type || 'any').join(' | ');

const pathFor = (path, parameters) => parameters.filter((p) => p.in === 'path')
  .reduce((url, p) => url.replace('{' + p.name + '}', encodeURIComponent(p.example || p.name)), path);

let token = '';
const credentials = () => (token === '' ? {} : { authorization: 'Bearer ' + token });

const curl = (method, url, example, open) => {
  const at = location.origin + url;
  const login = open ? '' : ' -H "authorization: Bearer $CAUSEWAY_TOKEN"';
  if (method === 'get') return 'curl' + login + " '" + at + "'";
  const type = method === 'patch' ? 'application/merge-patch+json' : 'application/json';
  const data = example ? " -H 'content-type: " + type + "' -d '" + JSON.stringify(example) + "'" : '';
  return 'curl -X ' + method.toUpperCase() + login + data + " '" + at + "'";
};

const tryIt = (url) => {
  const out = make('div', {});
  const button = make('button', { type: 'button' }, 'Send');
  button.addEventListener('click', async () => {
    const answer = await fetch(url, { headers: credentials() });
    const text = await answer.text();
    let shown = text;
    try { shown = JSON.stringify(JSON.parse(text), null, 2); } catch { /* no JSON */ }
    out.replaceChildren(make('p', { className: 'note' }, answer.status + ' ' + answer.statusText), make('pre', {}, shown));
  });
  return make('div', {}, button, out);
};

const operation = (api, path, method, item) => {
  const op = item[method];
  const parameters = [...(item.parameters || []), ...(op.parameters || [])].map((p) => resolve(api, p));
  const content = op.requestBody ? Object.values(op.requestBody.content)[0] : undefined;
  const url = pathFor(path, parameters);
  const body = make('div', { className: 'body' },
    op.description ? make('p', {}, op.description) : undefined,
    ...(parameters.length ? part('Parameters', table(['name', 'in', 'type', ''],
      parameters.map((p) => [make('code', {}, p.name), p.in, typeOf(p.schema), p.description || '']))) : []),
    ...(content && content.example ? part('Body', pretty(content.example)) : []),
    ...part('Call', make('pre', {}, curl(method, url, content && content.example, (op.security || []).some((way) => Object.keys(way).length === 0)))),
    method === 'get' ? tryIt(url) : undefined,
    ...part('Answers', table(['status', ''], Object.entries(op.responses).map(([status, answer]) =>
      [make('code', {}, status), resolve(api, answer).description]))));
  return make('details', { id: op.operationId },
    make('summary', {}, make('span', { className: 'verb' }, method), make('code', {}, path), make('span', { className: 'note' }, op.summary)), body);
};

// The token exists only in this page: it is not stored, not in a URL, and gone when the page is left.
const login = () => {
  const who = make('span', { className: 'note', role: 'status' });
  const field = make('input', { type: 'password', autocomplete: 'off', spellcheck: false, placeholder: 'token', ariaLabel: 'token' });
  const ask = async () => {
    const answer = await fetch('/who-am-i', { headers: credentials() });
    const said = await answer.json();
    who.textContent = answer.ok ? 'You are ' + said.name + (said.groups.length ? ', of ' + said.groups.join(', ') : '') + '.' : said.detail;
  };
  const form = make('form', { className: 'login' }, field, make('button', { type: 'submit' }, 'Log in'), who);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    token = field.value.trim();
    field.value = '';
    ask().catch((error) => { who.textContent = error.message; });
  });
  ask().catch(() => undefined);
  return form;
};

const show = (api) => {
  const main = document.querySelector('main');
  main.replaceChildren(make('h1', {}, api.info.title + ' REST ' + api.info.version), make('p', {}, api.info.description),
    make('p', {}, make('a', { href: '/openapi.json' }, 'openapi.json')), login());
  for (const tag of api.tags) {
    document.querySelector('nav').append(make('a', { href: '#' + tag.name }, tag.name));
    main.append(make('h2', { id: tag.name }, tag.name), make('p', { className: 'note' }, tag.description));
    for (const [path, item] of Object.entries(api.paths))
      for (const method of ['get', 'post', 'put', 'patch', 'delete'])
        if (item[method] && item[method].tags.includes(tag.name)) main.append(operation(api, path, method, item));
    const schema = api.components.schemas[tag.name];
    if (schema) main.append(make('details', {}, make('summary', {}, 'Schema'), make('div', { className: 'body' }, pretty(schema))));
  }
  const wanted = location.hash && document.getElementById(location.hash.slice(1));
  if (wanted) { wanted.open = true; wanted.scrollIntoView(); }
};

fetch('/openapi.json').then((answer) => answer.json()).then(show, (error) => {
  document.querySelector('main').replaceChildren('openapi.json cannot be read: ' + error.message);
});
`;

const STYLE = `
:root { color-scheme: light dark; --line: #8885; --soft: #8882; --mark: #2f7dd1; }
* { box-sizing: border-box; }
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; display: grid; grid-template-columns: 15rem 1fr; min-height: 100vh; }
nav { border-right: 1px solid var(--line); padding: 1rem; position: sticky; top: 0; height: 100vh; overflow: auto; }
nav a { display: block; color: inherit; text-decoration: none; padding: .15rem 0; }
nav a:hover { color: var(--mark); }
main { padding: 1rem 2rem; max-width: 60rem; min-width: 0; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
details { border: 1px solid var(--line); border-radius: .4rem; margin: .5rem 0; }
summary { cursor: pointer; padding: .4rem .8rem; display: flex; gap: .8rem; align-items: baseline; }
details[open] summary { background: var(--soft); }
.body { padding: .2rem .8rem .8rem; overflow-x: auto; }
.login { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; } .login input { font: inherit; min-width: 0; flex: 0 1 24rem; }
.verb { font: 600 12px/1 ui-monospace, monospace; width: 4rem; color: var(--mark); text-transform: uppercase; }
code, pre { font: 13px/1.45 ui-monospace, monospace; }
pre { background: var(--soft); padding: .6rem .8rem; border-radius: .4rem; overflow: auto; max-height: 30rem; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; padding: .25rem .6rem .25rem 0; vertical-align: top; border-top: 1px solid var(--line); }
button { font: inherit; padding: .2rem .8rem; } .note { opacity: .7; }
@media (max-width: 50rem) { body { display: block; } nav { position: static; height: auto; } main { padding: 1rem; } summary { flex-wrap: wrap; } }
`;

/** A page to browse /openapi.json; self-contained, without requests to other servers. */
export const DOCS_PAGE = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Causeway REST</title><style>${STYLE}</style></head>
<body><nav aria-label="Kinds"></nav><main><p class="note">Reading /openapi.json …</p></main>
<noscript>This page shows <a href="/openapi.json">openapi.json</a> with a script.</noscript>
<script>${docsScript}</script></body></html>
`;

/** Headers of the page: it may run its own script and connect to this server only. */
export const DOCS_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src ${computeHash(STYLE)}; script-src ${computeHash(docsScript)}; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

function computeHash(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
