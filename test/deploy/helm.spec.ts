import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import Schema from 'typebox/schema';
import { parse, parseAllDocuments } from 'yaml';
import { globalConfig, globalSettings } from '../../apps/global/src/config';
import { zoneConfig, zoneSettings } from '../../apps/zone/src/config';
import { fileKey } from '@causeway/runtime';

const ROOT = resolve(__dirname, '..', '..');
const CHART = join(ROOT, 'deploy/helm/causeway');
const DATA = join(__dirname, 'testdata/helm');
const CASES = readdirSync(DATA).flatMap((file) => /^(.*)\.values\.yaml$/.exec(file)?.slice(1) ?? []);
const read = (folder: string, file: string): string => readFileSync(join(folder, file), 'utf8');

type Tree = Readonly<Record<string, unknown>>;
interface Port {
  readonly name: string;
  readonly containerPort: number;
  readonly protocol?: string;
}
interface Container {
  readonly command: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly ports: readonly Port[];
  readonly securityContext: unknown;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[];
}
interface Rendered {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Tree };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec: Readonly<{
    template: {
      metadata: { labels: Tree };
      spec: { containers: readonly [Container]; securityContext: Tree; volumes: readonly Tree[] };
    };
    ports: readonly { name: string; port: number; targetPort: string; protocol: string }[];
    selector: Tree;
  }>;
}

const schema = JSON.parse(read(CHART, 'values.schema.json')) as Tree;
const defaults = parse(read(CHART, 'values.yaml')) as Tree;
const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value);
/** As Helm lays given values over those of the chart. */
function over(below: Tree, above: Tree): Tree {
  const merged = Object.entries(above).map(([key, value]) => {
    const under = below[key];
    return [key, isTree(value) && isTree(under) ? over(under, value) : value];
  });
  return { ...below, ...Object.fromEntries(merged) };
}
const isValid = (given: Tree): boolean => Schema.Check(schema, over(defaults, given));

describe('the values of the chart', () => {
  const zone = parse(read(DATA, 'zone.values.yaml')) as Tree;
  const global = parse(read(DATA, 'global.values.yaml')) as Tree;

  it.each(CASES)('fit the schema: %s', (name) => expect(isValid(parse(read(DATA, `${name}.values.yaml`)))).toBe(true));

  it.each<[string, Tree]>([
    ['no database', {}],
    ['a zone without a name', over(zone, { settings: { zoneName: undefined } })],
    ['a secret among the settings', over(zone, { settings: { databaseUrl: 'postgres://a:b@c/d' } })],
    ['a port among the settings', over(zone, { settings: { restPort: 1 } })],
    ['a setting that nobody has', over(zone, { settings: { dnsTtll: '5s' } })],
    ['a setting of the other program', over(global, { settings: { dnsTtl: '5s' } })],
    ['a zone token of a global', over(global, { secrets: { zoneToken: { name: 'a' } } })],
    ['an unknown key', over(zone, { replica: 2 })],
    ['another plane', over(zone, { plane: 'east' })],
  ])('are refused: %s', (_, given) => {
    const { settings, ...others } = over(defaults, given);
    const kept = isTree(settings) ? Object.entries(settings).filter(([, value]) => value !== undefined) : [];
    expect(Schema.Check(schema, { ...others, settings: Object.fromEntries(kept) })).toBe(false);
  });

  it('may have every setting but those that are the chart’s', () => {
    const [{ then, else: otherwise }] = schema['allOf'] as [Record<'then' | 'else', Tree>];
    const namesIn = (part: Tree): readonly string[] =>
      (part as { properties: { settings: { propertyNames: { enum: string[] } } } }).properties.settings.propertyNames
        .enum;
    for (const [part, settings] of [
      [then, zoneSettings],
      [otherwise, globalSettings],
    ] as const) {
      const own = Object.keys(settings)
        .map(fileKey)
        .filter((key) => !namesIn(part).includes(key));
      expect(Object.keys(settings).map(fileKey)).toEqual(expect.arrayContaining([...namesIn(part)]));
      for (const key of own) expect(key).toMatch(/(^config|port|bindAddress|file|tlsNames|url|token|secretsKey)$/i);
    }
  });
});

describe.each(CASES)('what the chart makes of %s', (name) => {
  const golden = read(DATA, `${name}.golden.yaml`);
  const given = parse(read(DATA, `${name}.values.yaml`)) as { plane: 'global' | 'zone'; settings?: Tree };
  const all = parseAllDocuments(golden).map((document) => document.toJS() as Rendered);
  const one = (kind: string): Rendered => {
    const [found] = all.filter((each) => each.kind === kind);
    if (!found) throw new Error(`${name} has no ${kind}`);
    return found;
  };
  const pod = one('Deployment').spec.template;
  const [container] = pod.spec.containers;
  const settings = given.plane === 'zone' ? zoneSettings : globalSettings;

  it('was rendered from the chart as it is (sh test/deploy/helm.sh renders it)', () => {
    const digest = spawnSync(process.execPath, [join(__dirname, 'chart-digest.mjs')], {
      encoding: 'utf8',
    }).stdout.trim();
    expect(golden.split('\n')[0]).toContain(digest);
  });

  it('is a start that the program takes, with every secret in a file', () => {
    const folder = mkdtempSync(join(tmpdir(), 'causeway-chart-'));
    try {
      const place = (path: string): string => join(folder, path);
      const write = (path: string, text: string): void => {
        mkdirSync(dirname(place(path)), { recursive: true });
        writeFileSync(place(path), text);
      };
      const files = container.env.filter(({ value }) => value.startsWith('/'));
      expect(files).toEqual(container.env);
      const texts = { 'database-url': 'postgres://a:b@c:5432/d', 'redis-url': 'redis://a:6379' } as const;
      const textOf = (path: string): string => Object.entries(texts).find(([name]) => path.endsWith(name))?.[1] ?? 'x';
      for (const { value } of files) write(value, textOf(value));
      write('/etc/causeway/config.yaml', one('ConfigMap').data?.['config.yaml'] ?? '');
      const env = Object.fromEntries(files.map((each) => [each.name, place(each.value)]));
      const start = { env, args: [] };
      const { values, unknownVariables } = given.plane === 'zone' ? zoneConfig(start) : globalConfig(start);
      expect(unknownVariables).toEqual([]);
      expect(values).toMatchObject({ DATABASE_URL: 'postgres://a:b@c:5432/d', CAUSEWAY_BIND_ADDRESS: '0.0.0.0' });
      expect(values).toMatchObject({ CAUSEWAY_OPERATOR_TOKEN: 'x', CAUSEWAY_SECRETS_KEY: 'x' });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('listens where the program does by default, and its Services lead there', () => {
    const ports = Object.fromEntries(container.ports.map((port) => [port.name.replace(/-.*/, ''), port.containerPort]));
    const expected = Object.keys(ports).map((port) => [
      port,
      settings[`CAUSEWAY_${port.toUpperCase()}_PORT` as keyof typeof settings]?.fallback,
    ]);
    expect(Object.entries(ports)).toEqual(expected.map(([port, fallback]) => [port, Number(fallback)]));
    const led = all.filter(({ kind }) => kind === 'Service').flatMap(({ spec }) => spec.ports);
    expect(led.map(({ targetPort }) => targetPort).sort()).toEqual(container.ports.map((port) => port.name).sort());
    for (const { targetPort, protocol } of led)
      expect(container.ports.find((port) => port.name === targetPort)?.protocol ?? 'TCP').toBe(protocol);
  });

  it('selects its own pods, and those of no other release', () => {
    const labels = pod.metadata.labels;
    for (const { spec } of all.filter(({ kind }) => kind === 'Service')) expect(labels).toMatchObject(spec.selector);
    const { selector } = one('Deployment').spec as unknown as { selector: { matchLabels: Tree } };
    expect(labels).toMatchObject(selector.matchLabels);
    expect(selector.matchLabels['app.kubernetes.io/instance']).toBe(given.plane);
  });

  it('writes nothing but /tmp, is not root, and has no capability', () => {
    expect(container.command).toEqual([`causeway-${given.plane}`]);
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(pod.spec.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: 1000,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(
      container.volumeMounts.filter(({ readOnly }) => readOnly !== true).map(({ mountPath }) => mountPath),
    ).toEqual(['/tmp']);
    expect(pod.spec.volumes.map((volume) => volume['name']).sort()).toEqual(
      container.volumeMounts.map((mount) => mount.name).sort(),
    );
    expect(pod.spec).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
  });
});

it('the certificate of a control plane has the names of its Services', () => {
  const map = parseAllDocuments(read(DATA, 'global.golden.yaml'))
    .map((document) => document.toJS() as Rendered)
    .find(({ kind }) => kind === 'ConfigMap');
  const { kdsTlsNames } = parse(map?.data?.['config.yaml'] ?? '{}') as { kdsTlsNames: readonly string[] };
  const { settings } = parse(read(DATA, 'zone.values.yaml')) as { settings: { globalAddress: string } };
  expect(kdsTlsNames).toContain(new URL(settings.globalAddress).hostname);
});

it('the chart is of the version of the product', () => {
  const { version } = JSON.parse(read(ROOT, 'package.json')) as { version: string };
  expect(parse(read(CHART, 'Chart.yaml'))).toMatchObject({ version, appVersion: version });
});
