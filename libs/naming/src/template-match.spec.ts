import * as fc from 'fast-check';
import { parseTemplate, renderTemplate, type Template } from './template';
import { templateRequirements } from './template-match';

function template(text: string): Template {
  const parsed = parseTemplate(text);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.template;
}

test.each([
  ['{{ name }}.mesh', 'redis.mesh', ['name=redis']],
  ['{{ .DisplayName }}.{{ name }}.mesh', 'a.a.mesh', ['name=a']],
  ['{{ .DisplayName }}.{{ name }}.mesh', 'a.b.mesh', undefined],
  ['{{ name }}.{{ label "team" }}.{{ .Zone }}', 'a.b.c', ['name=a', 'label "team"=b', 'zone=c']],
  ['{{ name }}.svc', 'a.b.svc', ['name=a.b']],
  ['{{ label "kuma.io/zone" }}.{{ .Zone }}', 'x.x', ['zone=x']],
  ['static.mesh', 'static.mesh', []],
  ['static.mesh', 'other.mesh', undefined],
  ['a.b', 'axb', undefined],
])('templateNeeds(%s, %s) = %j', (text, hostname, needs) => {
  expect(templateRequirements(template(text), hostname)?.map(({ what, value }) => `${what}=${value}`)).toEqual(needs);
});

test('what a template gives it can also be asked for', () => {
  const word = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,8}[a-z0-9])?$/);
  const texts = fc.constantFrom(
    '{{ name }}.mesh',
    'x-{{ name }}.{{ label "app" }}.z',
    '{{ label "app" }}{{ name }}',
    '{{ .Mesh }}.{{ name }}.{{ name }}',
  );
  fc.assert(
    fc.property(texts, word, word, (text, name, app) => {
      const id = { kind: 'MeshService', mesh: 'default', zone: 'east', namespace: 'default', name };
      const rendered = renderTemplate(template(text), { id, labels: { app } }, 'east');
      if (rendered.ok) expect(templateRequirements(template(text), rendered.hostname)).toBeDefined();
    }),
  );
});

test.each([
  ['many values side by side', Array.from({ length: 50 }, (_, i) => `{{ label "a${i}" }}`).join('') + '!'],
  ['many values that stand twice', Array.from({ length: 26 }, (_, i) => `{{ label "a${i % 13}" }}`).join('') + '-'],
])('looking for a fit of %s comes to an end', (_, text) => {
  expect(templateRequirements(template(text), 'a'.repeat(250))).toBeUndefined();
});

test('no hostname is longer than DNS allows', () => {
  expect(templateRequirements(template('{{ name }}'), 'a'.repeat(254))).toBeUndefined();
});
