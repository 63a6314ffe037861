import { UsageError } from './context';
import { jsonPath, jsonPathTemplate } from './json-path';

const LIST = {
  items: [
    { name: 'a', labels: { 'kuma.io/zone': 'east' }, spec: { ports: [{ port: 1 }, { port: 2 }] } },
    { name: 'b', labels: {}, spec: { ports: [] } },
  ],
};

describe('a template of JSONPath', () => {
  it.each([
    ['the names of a list', '{.items[*].name}', 'a b'],
    ['text around it', 'all: {.items[*].name}.', 'all: a b.'],
    ['one element, from either end', '{.items[0].name}{.items[-1].name}', 'ab'],
    ['a key with escaped dots', '{.items[0].labels.kuma\\.io/zone}', 'east'],
    ['a key with dots and slashes in quotes', `{.items[0].labels['kuma.io/zone']}`, 'east'],
    ['a range with line breaks', '{range .items[*]}{.name}{"\\t"}{.spec.ports[*].port}{"\\n"}{end}', 'a\t1 2\nb\t\n'],
    ['the elements with a value', '{.items[?(@.name=="b")].spec}', '{"ports":[]}'],
    ['the elements without a value', '{.items[?(@.name!="b")].name}', 'a'],
    ['nothing where there is nothing', '{.items[*].nope[0].x}', ''],
    ['the whole', '{.items[1].labels}{$.items[1].name}', '{}b'],
  ])('gives %s', (_, template, want) => {
    expect(jsonPathTemplate(template)(LIST)).toBe(want);
  });

  it.each(['{.a', '{range .items[*]}', '{.items[x]}', '{end}', '{..name}'])('refuses %s', (template) => {
    expect(() => jsonPathTemplate(template)).toThrow(UsageError);
  });
});

describe('a path to sort by', () => {
  it.each(['.items[*].name', '{.items[*].name}', 'items[*].name'])('may be %s', (path) => {
    expect(jsonPath(path)(LIST)).toEqual(['a', 'b']);
  });
});
