import { checkTemplate, parseTemplate, renderTemplate, type Template } from './template';
import { dnsNameProblem } from '@causeway/resources';

function template(text: string): Template {
  const parsed = parseTemplate(text);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.template;
}

function service(name: string, labels: Record<string, string> = {}, namespace = 'default') {
  return { id: { kind: 'MeshService', mesh: 'default', zone: 'east', namespace, name }, labels };
}

const seed =
  '{{ label "k8s.kuma.io/service-name" }}.{{ label "k8s.kuma.io/namespace" }}.svc.mesh.{{ label "kuma.io/zone" }}';

describe('renderTemplate gives (T001-14, docs/reference/kuma-rest.md §9.5)', () => {
  const labels = { 'kuma.io/zone': 'zone-1', app: 'my-app' };
  test.each([
    ['{{ .Name }}.mesh', 'backend.mesh'],
    ['{{name}}.mesh', 'backend.mesh'],
    ['{{\t name\n }}.mesh', 'backend.mesh'],
    ['{{ .DisplayName }}.{{ .Namespace }}.mesh', 'backend.default.mesh'],
    ['{{ .Name }}.{{ .Zone }}.mesh', 'backend.zone-1.mesh'],
    ['{{ .Name }}.{{ .Mesh }}.x', 'backend.default.x'],
    ['{{ label "app" }}.mesh', 'my-app.mesh'],
    ['{{label   "app"}}.mesh', 'my-app.mesh'],
    ['{{ .Name -}} .mesh', 'backend.mesh'],
    ['x. {{- .Name }}', 'x.backend'],
    ['static.mesh', 'static.mesh'],
    [seed, 'backend.default.svc.mesh.zone-1'],
  ])('%s → %s', (text, hostname) => {
    expect(renderTemplate(template(text), service('backend', labels), 'local')).toEqual({ ok: true, hostname });
  });

  test('the zone that asks where the service has none', () => {
    expect(renderTemplate(template('{{ .Name }}.{{ .Zone }}'), service('a'), 'west')).toEqual({
      ok: true,
      hostname: 'a.west',
    });
  });

  test("the seed's own service its own name", () => {
    const redis = service(
      'redis.demo-app',
      { 'k8s.kuma.io/service-name': 'redis', 'k8s.kuma.io/namespace': 'demo-app', 'kuma.io/zone': 'east' },
      'demo-app',
    );
    expect(renderTemplate(template(seed), redis, 'east')).toEqual({
      ok: true,
      hostname: 'redis.demo-app.svc.mesh.east',
    });
  });
});

describe('renderTemplate gives no hostname (T001-15)', () => {
  test('for a missing label, which it names', () => {
    const got = renderTemplate(template('{{ label "team" }}.mesh'), service('a'), 'east');
    expect(got).toEqual({ ok: false, reason: 'label "team" is missing', missingLabel: 'team' });
  });

  test.each([
    [
      'Redis',
      '"Redis.mesh" is not a valid DNS name: "R" is an upper-case letter; write it in lower case, it is not changed for you',
    ],
    ['a_b', '"a_b.mesh" is not a valid DNS name: "_" is none of a-z, 0-9, \'-\', \'.\''],
    ['', '".mesh" is not a valid DNS name: it starts with \'.\''],
    ['a..b', '"a..b.mesh" is not a valid DNS name: it has two \'.\' in a row'],
    ['a-', '"a-.mesh" is not a valid DNS name: "a-" starts or ends with \'-\''],
  ])('for the label value "%s"', (app, reason) => {
    expect(renderTemplate(template('{{ label "app" }}.mesh'), service('a', { app }), 'east')).toEqual({
      ok: false,
      reason,
    });
  });
});

describe('parseTemplate refuses', () => {
  test.each([
    ['{{ exec "x" }}', '{{ exec "x" }}: only '],
    ['{{ .Nam }}', '{{ .Nam }}: did you mean {{ .Name }}?'],
    ['{{ label app }}', '{{ label app }}: '],
    ['{{ label "a b" }}', '{{ label "a b" }}: "a b" is not a label key'],
    ['{{ .Name | lower }}', '{{ .Name | lower }}: '],
    ['{{ .Name[0 }}.mesh', '{{ .Name[0 }}: '],
    ['{{ toString }}', '{{ toString }}: '],
    ['{{ }}', '{{ }}: '],
    ['{{ if .Name }}x{{ end }}', '{{ if .Name }}: '],
    ['{{ .Name .mesh', 'braces without a partner'],
    ['{{ .Name }}}.mesh', 'braces without a partner'],
    ['{ .Name }.mesh', 'braces without a partner'],
  ])('%s', (text, start) => {
    const parsed = parseTemplate(text);
    expect(parsed).toMatchObject({ ok: false });
    expect(parsed.ok ? '' : parsed.reason.slice(0, start.length)).toBe(start);
  });
});

describe('checkTemplate', () => {
  test.each([
    ['.{{ .Name }}'],
    ['{{ .Name }}.Mesh'],
    ['{{ .Name }}..mesh'],
    ['{{ .Name }}.m_esh'],
    ['{{ .Name }}.mesh.'],
    ['{{ .Name }}.-x'],
    ['{{ .Name }} .mesh'],
    ['{{ .Name }}.mesh\n'],
    [''],
    [`{{ .Name }}.${'a'.repeat(64)}.mesh`],
    [`{{ .Name }}${'.abcdefghi'.repeat(26)}`],
    ['{{ exec "x" }}'],
  ])('refuses %j: it can never give a DNS name', (text) => {
    expect(checkTemplate(text)).toHaveLength(1);
  });

  test.each([
    ['{{ name }}'],
    ['static.mesh'],
    [seed],
    [`${'a'.repeat(40)}{{ .Name }}${'b'.repeat(40)}.mesh`],
    [`{{ .Name }}${'.abcdefghi'.repeat(25)}`],
  ])('accepts %j: some value gives one', (text) => {
    expect(checkTemplate(text)).toEqual([]);
  });
});

test('a template lists what it reads and how its names end', () => {
  const { reads, literalSuffix } = template('{{ name }}.{{ label "app" }}.{{ .Zone }}.{{ label "app" }}.mesh.local');
  expect(reads).toEqual({ labels: ['app'], variables: ['Name', 'Zone'] });
  expect(literalSuffix).toBe('.mesh.local');
  expect(template('{{ name }}').literalSuffix).toBe('');
  expect(template('static.mesh').literalSuffix).toBe('static.mesh');
});

test.each([
  ['a'.repeat(63), true],
  ['a'.repeat(64), false],
  [`${'abcdefghi.'.repeat(25)}abc`, true],
  [`${'abcdefghi.'.repeat(25)}abcd`, false],
  ['xn--bcher-kva.mesh', true],
  ['bücher.mesh', false],
])('dnsNameProblem holds 63 and 253 octets: %#', (name, good) => {
  expect(dnsNameProblem(name) === undefined).toBe(good);
});

describe('a hostile template', () => {
  test('is refused by its length before it is looked at', () => {
    const parsed = parseTemplate('{{'.repeat(60_000));
    expect(parsed).toEqual({ ok: false, reason: 'it has 120000 characters, 1024 are allowed' });
    expect(checkTemplate('{{'.repeat(60_000))).toEqual(['it has 120000 characters, 1024 are allowed']);
  });

  test.each(['{{', '}}', '{{ name }}{{', '{{-', '{', '{{}', '{{ label "'])(
    'of %s again and again is refused with a short reason',
    (unit) => {
      const parsed = parseTemplate(unit.repeat(Math.floor(1_024 / unit.length)));
      expect(parsed.ok).toBe(false);
      if (!parsed.ok) expect(parsed.reason.length).toBeLessThan(600);
    },
  );

  test('that reads long labels makes no long hostname', () => {
    const labels = { app: 'x'.repeat(1_000_000) };
    const rendered = renderTemplate(template('{{ label "app" }}'.repeat(50)), service('a', labels), 'east');
    expect(rendered).toMatchObject({
      ok: false,
      reason: expect.stringContaining('it has 50000000 characters, 253 are allowed'),
    });
    if (!rendered.ok) expect(rendered.reason.length).toBeLessThan(500);
  });

  test('reads no label that every object inherits', () => {
    const rendered = renderTemplate(template('{{ label "constructor" }}.mesh'), service('a'), 'east');
    expect(rendered).toMatchObject({ ok: false, missingLabel: 'constructor' });
  });
});
