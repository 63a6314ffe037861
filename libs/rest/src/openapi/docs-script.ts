/** The script of the docs page; plain JavaScript that builds the page with text nodes only. */
export const docsScript = `
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

const curl = (method, url, example) => {
  const at = location.origin + url;
  if (method === 'get') return "curl '" + at + "'";
  const type = method === 'patch' ? 'application/merge-patch+json' : 'application/json';
  const data = example ? " -H 'content-type: " + type + "' -d '" + JSON.stringify(example) + "'" : '';
  return 'curl -X ' + method.toUpperCase() + data + " '" + at + "'";
};

const tryIt = (url) => {
  const out = make('div', {});
  const button = make('button', { type: 'button' }, 'Send');
  button.addEventListener('click', async () => {
    const answer = await fetch(url);
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
    ...part('Call', make('pre', {}, curl(method, url, content && content.example))),
    method === 'get' ? tryIt(url) : undefined,
    ...part('Answers', table(['status', ''], Object.entries(op.responses).map(([status, answer]) =>
      [make('code', {}, status), resolve(api, answer).description]))));
  return make('details', { id: op.operationId },
    make('summary', {}, make('span', { className: 'verb' }, method), make('code', {}, path), make('span', { className: 'note' }, op.summary)), body);
};

const show = (api) => {
  const main = document.querySelector('main');
  main.replaceChildren(make('h1', {}, api.info.title + ' REST ' + api.info.version), make('p', {}, api.info.description),
    make('p', {}, make('a', { href: '/openapi.json' }, 'openapi.json')));
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
