import { JSON_TYPE, type Blow } from './rest-blows';

/** A dry run: nothing of it is kept. */
export const SERVICE = '/meshes/default/meshservices/attacked?dryRun=true';
const YAML_TYPE = { 'content-type': 'application/yaml' };

const many = (count: number, item: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => item(i)).join(',');
const service = (ports: string): string =>
  `{"type":"MeshService","mesh":"default","name":"attacked","spec":{"ports":[${ports}]}}`;

const JSON_BODIES: readonly (() => string)[] = [
  () => service(many(300_000, () => '{}')),
  () => service(many(60_000, (i) => `{"port":${(i % 65_535) + 1}}`)),
  () => service(many(60_000, (i) => `{"prot${i}":1}`)),
  () => `{"type":"MeshService","name":"attacked",${many(60_000, (i) => `"f${i}":1`)}}`,
  () => `{"type":"MeshService","name":"attacked","labels":{${many(50_000, (i) => `"l${i}":"v"`)}}}`,
  () => '['.repeat(500_000),
  () => '{"a":'.repeat(150_000),
  () => `{"type":"MeshService","name":"attacked","spec":{"a":"${'\\u0000'.repeat(100_000)}"}}`,
];

const YAML_BODIES: readonly (() => string)[] = [
  () => '"'.repeat(250_000),
  () => '!a '.repeat(80_000),
  () => '&a '.repeat(80_000),
  () => '[ '.repeat(120_000),
  () => '- - '.repeat(60_000),
  () => '? '.repeat(120_000),
  () => '{{ name }}'.repeat(25_000),
  () => `a: &a [x]\n${Array.from({ length: 10_000 }, (_, i) => `b${i}: *a\n`).join('')}`,
];

/** Requests with bodies in JSON that cost as much as they can. */
export function hostileJson(turn: number): readonly Blow[] {
  const selector = { meshService: {} };
  const template = { type: 'HostnameGenerator', name: 'h', spec: { selector, template: '{{'.repeat(60_000) } };
  return [
    { method: 'PUT', path: SERVICE, headers: JSON_TYPE, body: bodyOf(JSON_BODIES, turn) },
    { method: 'PUT', path: '/hostnamegenerators/h?dryRun=true', headers: JSON_TYPE, body: JSON.stringify(template) },
    { method: 'PATCH', path: SERVICE, headers: JSON_TYPE, body: bodyOf(JSON_BODIES, turn + 3) },
  ];
}

/** The same in YAML. */
export function hostileYaml(turn: number): readonly Blow[] {
  return [{ method: 'PUT', path: SERVICE, headers: YAML_TYPE, body: bodyOf(YAML_BODIES, turn) }];
}

const made = new Map<() => string, string>();

/** Each is made once: the attacker's time is for sending. */
function bodyOf(bodies: readonly (() => string)[], turn: number): string {
  const make = bodies[turn % bodies.length];
  if (!make) return '';
  const body = made.get(make) ?? make();
  made.set(make, body);
  return body;
}
