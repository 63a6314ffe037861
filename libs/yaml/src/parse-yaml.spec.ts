import { Parser } from 'yaml';
import { parseYaml, Unparsable } from './parse-yaml';
import { composeDocuments, TooManyErrors } from './bounded-compose';

function failure(text: string, limits?: Parameters<typeof parseYaml>[1]): Unparsable {
  try {
    parseYaml(text, limits);
  } catch (error) {
    if (error instanceof Unparsable) return error;
    throw error;
  }
  throw new Error('it was parsed');
}

const seed = `type: HostnameGenerator
name: k8s-zone-hostnames
spec:
  selector:
    meshService:
      labels:
        kuma.io/zone: east
  template: {{ label "k8s.kuma.io/service-name" }}.{{ label "k8s.kuma.io/namespace" }}.svc.mesh.{{ label "kuma.io/zone" }}
`;

describe('parseYaml', () => {
  it('reads several documents and leaves empty ones out', () => {
    const documents = parseYaml('a: 1\n---\n# nothing\n---\nb: [x, "y"]\n');
    expect(documents.map((document) => document.value)).toEqual([{ a: 1 }, { b: ['x', 'y'] }]);
  });

  it('reads JSON', () => {
    expect(parseYaml('{"a": {"b": [1, true, null]}}').map((d) => d.value)).toEqual([{ a: { b: [1, true, null] } }]);
  });

  it('has no documents in an empty text', () => {
    expect(parseYaml('')).toEqual([]);
    expect(parseYaml('---\n...\n')).toEqual([]);
  });

  it.each<[string, string, string]>([
    [
      'the seed as it stands',
      seed,
      `line 8, column 13: a template must be in quotes, YAML takes "{{" for a map; write '{{ label "k8s.kuma.io/service-name" }}.{{ label "k8s.kuma.io/namespace" }}.svc.mesh.{{ label "kuma.io/zone" }}'`,
    ],
    [
      'a template that YAML takes without complaint',
      'spec:\n  template: {{ name }}\n',
      `line 2, column 13: a template must be in quotes, YAML takes "{{" for a map; write '{{ name }}'`,
    ],
    [
      'a template with a tail',
      'spec: {}\ntemplate: {{ name }}.mesh\nz: 1',
      `line 2, column 11: a template must be in quotes, YAML takes "{{" for a map; write '{{ name }}.mesh'`,
    ],
    ['a key twice', 'a: 1\nb: 2\na: 3\n', 'line 3, column 1: the key "a" stands twice'],
    ['a list without an end', 'a: [1, 2\nb: 3\n', 'line 2, column 1: '],
    ['a tab', 'a:\n\tb: 1\n', 'line 2, column 1: '],
    ['a key that is no text', '? [a, b]\n: 1\n', 'line 1, column 3: a key must be text'],
    ['a key that is nothing', '? \n: 1\n', 'a key must be text'],
    ['a key that is an alias', 'a: &a 1\n*a : 2\n', 'a key must be text'],
    ['broken JSON', '{"a": 1,, "b": 2}', 'line 1, column 9: '],
  ])('says where %s is wrong', (_, text, message) => {
    expect(failure(text).message).toContain(message);
  });

  it('stops aliases that unfold without end', () => {
    const bomb = ['a: &a [x,x,x,x,x,x,x,x,x]'];
    for (const [from, to] of ['ab', 'bc', 'cd', 'de', 'ef', 'fg', 'gh', 'hi'].map((p) => [p[0], p[1]])) {
      bomb.push(`${to}: &${to} [${Array.from({ length: 9 }, () => `*${from}`).join(',')}]`);
    }
    expect(failure(bomb.join('\n')).message).toContain('aliases');
  });

  it('stops at the first of very many errors', () => {
    expect(failure('a: ]\n'.repeat(50_000)).message).toContain('line 1, column 4: ');
  });

  it('reads a map of very many keys', () => {
    const text = Array.from({ length: 50_000 }, (_, i) => `k${i}: 1`).join('\n');
    expect(Object.keys(Object(parseYaml(text)[0]?.value))).toHaveLength(50_000);
  });

  it('reads a list of very many items', () => {
    expect(parseYaml(`[${'1,'.repeat(150_000)}1]`)[0]?.value).toHaveLength(150_001);
  });

  it('takes a few aliases', () => {
    expect(parseYaml('a: &x {b: 1}\nc: *x\n')[0]?.value).toEqual({ a: { b: 1 }, c: { b: 1 } });
  });

  it('refuses an alias of nothing', () => {
    expect(failure('a: *none\n').message).toContain('aliases: Unresolved alias');
  });

  it('stops at its limits', () => {
    expect(failure('a: 12345', { length: 5 }).message).toContain('8 characters, 5 are allowed');
    expect(failure('a: [1, 2]', { nodes: 5 }).message).toContain('more than 5 keys and values');
    expect(failure('a: 1\n---\nb: 1\n', { nodes: 5 }).message).toContain('more than 5 keys and values');
  });

  it.each(['[', '{a: ', '- ', '? ', '{{', '&a [', '- {b: ['])(
    'stops when "%s" is nested, before the stack does',
    (open) => {
      expect(failure(open.repeat(20_000)).message).toContain('nested deeper than 64');
    },
  );

  it.each<[string, string, string]>([
    ['quotes', '"', 'line 1, column 3: '],
    ['tags', '!a ', 'line 1, column 4: '],
    ['anchors', '&a ', 'line 1, column 4: '],
    ['commas in a list', ',', 'line 1, column '],
    ['escapes that are none', '\\q', 'line 1, column '],
  ])('makes no error for each of 80,000 %s', (name, unit, message) => {
    const open = name.startsWith('commas') ? '[' : name.startsWith('escapes') ? '"' : '';
    const close = open === '[' ? ']' : open;
    const text = open + unit.repeat(80_000) + close;
    expect(failure(text).message).toContain(message);
    const tokens = [...new Parser().parse(text)];
    // It gives up: the library alone makes an error with its stack for each.
    expect(() => composeDocuments(tokens)).toThrow(TooManyErrors);
  });

  it('tells every error of a text with few', () => {
    const [document] = composeDocuments([...new Parser().parse('[,,,,]')]);
    expect(document?.errors.length).toBeGreaterThan(1);
    expect(document?.errors.length).toBeLessThan(20);
  });

  it('finds the anchors of very many aliases without looking for each', () => {
    const pairs = Array.from({ length: 16_000 }, (_, i) => `&a${i} x,*a${i}`);
    expect(parseYaml(`[${pairs.join(',')}]`)[0]?.value).toHaveLength(32_000);
  });

  it('takes the last of several anchors of one name', () => {
    expect(parseYaml('[&a x, *a, &a y, *a]')[0]?.value).toEqual(['x', 'x', 'y', 'y']);
  });

  it('refuses an alias in what it stands for', () => {
    expect(failure('a: &a [1, *a]').message).toContain('line 1, column 11: aliases: Unresolved alias');
  });

  it('counts the characters that aliases repeat', () => {
    const text = `a: &a ${'x'.repeat(10_000)}\nb: [${'*a,'.repeat(1_000)}]`;
    expect(failure(text).message).toContain('aliases: they make the document too large');
  });

  it('refuses values that JSON does not have', () => {
    expect(failure('a: !!binary aGVsbG8=').message).toContain('line 1, column 13: a value with a tag');
  });

  it('knows where a field stands', () => {
    const [document] = parseYaml(
      'type: A\nlabels:\n  kuma.io/zone: x\nspec:\n  ports:\n  - port: 1\n  - name: a\n    port: 0\n',
    );
    expect(document?.locate('spec.ports[1].port')).toEqual({ line: 8, column: 5 });
    expect(document?.locate('spec.ports[0]')).toEqual({ line: 6, column: 5 });
    expect(document?.locate('labels["kuma.io/zone"]')).toEqual({ line: 3, column: 3 });
    expect(document?.locate('spec.template')).toEqual({ line: 4, column: 1 });
    expect(document?.locate('name')).toEqual({ line: 1, column: 1 });
  });

  it('counts lines over all documents', () => {
    const [, second] = parseYaml('a: 1\n---\nb:\n  c: 1\n');
    expect(second?.locate('b.c')).toEqual({ line: 4, column: 3 });
  });

  it('keeps __proto__ a key like any other, for the decoder to refuse', () => {
    const [document] = parseYaml('__proto__: {polluted: true}\n');
    expect(Object.keys(Object(document?.value))).toEqual(['__proto__']);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });
});
