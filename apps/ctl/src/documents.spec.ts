import { DocumentError, parseDocuments } from './documents';

const text = `# a comment
type: MeshService
name: redis
spec:
  ports:
  - port: 6379
    appProtocol: tcp
  - port: 99999
---
type: HostnameGenerator
name: hg
labels:
  kuma.io/zone: east
`;

describe('parseDocuments', () => {
  it('knows the line of every field, or of the nearest field above it', () => {
    const [service, generator] = parseDocuments('a.yaml', text);
    const lines = ['spec.ports[1].port', 'spec.ports[0]', 'spec.ports[0].name', 'spec', 'name', 'mesh'].map((f) =>
      service?.lineOf(f),
    );
    expect(lines).toEqual([8, 6, 6, 4, 3, 2]);
    expect(generator?.lineOf('labels["kuma.io/zone"]')).toBe(13);
    expect([service?.line, generator?.line]).toEqual([2, 10]);
  });

  it('leaves empty documents out', () => {
    expect(parseDocuments('a.yaml', '---\n---\n# nothing\n')).toEqual([]);
  });

  it.each([
    [
      'an unquoted template',
      'type: HostnameGenerator\nname: a\nspec:\n  template: {{ name }}.mesh\n',
      /^f: line 4, column \d+: a template must be in quotes/,
    ],
    ['a tab', 'a:\n\t- b\n', /^f: line 2, column \d+: /],
    ['a double key', 'a: 1\na: 2\n', /^f: line 2, column \d+: /],
  ])('says file, line and column of %s', (_, broken, message) => {
    expect(() => parseDocuments('f', broken)).toThrow(DocumentError);
    expect(() => parseDocuments('f', broken)).toThrow(message);
  });
});
