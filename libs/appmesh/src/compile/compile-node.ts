import { FieldPath, type Identity, type JsonObject, type Violation } from '@causeway/resources';
import { findSelector, type NodeListener, type VirtualNodeSpec } from '../model';
import { nodeServiceName } from '../names';
import { formatInterval } from './durations';
import { checkFields, type FieldRules } from './known-fields';
import { buildGenerated, generatePolicy, type Generated } from './generated';

/** Result of compiling a node; not used if there are violations. */
export interface CompiledNode {
  /** MeshService of its Dataplanes, in each zone that has some. */
  readonly service: Generated;
  readonly policies: readonly Generated[];
  readonly violations: readonly Violation[];
}

const SERVER_SIDE = 'limits of a CircuitBreakerPolicy count what one caller sends, this counts what one instance takes';
const CERTIFICATES = 'certificates are those of the mesh';
const NODE = {
  // Instances are the selected Dataplanes, regardless of service discovery; backendDefaults without tls has no effect.
  known: [
    'awsName',
    'meshRef',
    'podSelector',
    'dataplaneSelector',
    'listeners',
    'backends',
    'backendDefaults',
    'serviceDiscovery',
  ],
  refused: { logging: 'access logs are configured for the whole zone', backendGroups: 'list the services in backends' },
};
const CLIENT = { known: ['clientPolicy'], refused: {} };
const CLIENT_POLICY = { known: [], refused: { tls: CERTIFICATES } };
const LISTENER = {
  known: ['portMapping', 'outlierDetection'],
  refused: {
    healthCheck: 'the health of instances is that of their Dataplanes',
    connectionPool: SERVER_SIDE,
    timeout: 'a TimeoutPolicy ends requests where they are sent; give it to the route',
    tls: CERTIFICATES,
  },
};
const EJECTION = {
  known: ['maxServerErrors', 'interval', 'baseEjectionDuration', 'maxEjectionPercent'],
  refused: {},
};

/**
 * Compiles a node: its MeshService with the ports of its listeners (T003-37), and policies for the other settings of its listeners. Linear in the spec.
 */
export function compileNode(id: Identity, spec: VirtualNodeSpec, at = FieldPath.at('spec')): CompiledNode {
  const found: Violation[] = [];
  checkFields(spec, NODE, at, found);
  const { listeners = [], backends = [], backendDefaults } = spec;
  const selector = findSelector(spec);
  if (selector?.matchExpressions?.length) {
    const place = at.field(spec.podSelector ? 'podSelector' : 'dataplaneSelector').field('matchExpressions');
    found.push(place.violation('is not supported: MeshServices select by matchLabels', 'not-allowed'));
  }
  if (backendDefaults) checkClient(backendDefaults, CLIENT, { at: at.field('backendDefaults'), found });
  backends.forEach(({ virtualService }, i) => {
    const place = at.field('backends').index(i).field('virtualService');
    const known = ['virtualServiceRef', 'clientPolicy'];
    checkClient(virtualService, { known, refused: {} }, { at: place, found });
  });
  const name = nodeServiceName(id.name);
  const policies = listeners.flatMap((listener, i) => {
    const place = at.field('listeners').index(i);
    checkFields(listener, LISTENER, place, found);
    return compileOutlierDetection(listener, { name, id, at: place.field('outlierDetection'), found });
  });
  const selected = selector && { selector: { dataplaneLabels: { matchLabels: { ...selector.matchLabels } } } };
  const ports = listGeneratedPorts(listeners);
  const service = buildGenerated(id, { kind: 'MeshService', name, from: 'VirtualNode' }, { ...selected, ports });
  return { service, policies, violations: found };
}

/** Checks the settings for a node's outgoing calls; refuses TLS settings. */
function checkClient(
  given: { readonly clientPolicy?: object },
  rules: FieldRules,
  { at, found }: { readonly at: FieldPath; readonly found: Violation[] },
): void {
  checkFields(given, rules, at, found);
  if (given.clientPolicy) checkFields(given.clientPolicy, CLIENT_POLICY, at.field('clientPolicy'), found);
}

/** Returns the parts of a node's spec that cannot be compiled exactly, by field; for admission. */
export function nodeViolations(spec: VirtualNodeSpec, at: FieldPath): readonly Violation[] {
  return compileNode({ kind: 'VirtualNode', mesh: '', zone: '', namespace: '', name: '' }, spec, at).violations;
}

/** Returns the ports of a MeshService, one for each number, which is also its name. */
export function listGeneratedPorts(listeners: readonly Pick<NodeListener, 'portMapping'>[]): readonly JsonObject[] {
  const ports = new Map<number, JsonObject>();
  for (const { portMapping } of listeners) {
    const { port, protocol } = portMapping;
    if (!ports.has(port)) ports.set(port, { name: String(port), port, targetPort: port, appProtocol: protocol });
  }
  return [...ports.values()];
}

function compileOutlierDetection(
  { portMapping: { port }, outlierDetection }: NodeListener,
  {
    name,
    id,
    at,
    found,
  }: { readonly name: string; readonly id: Identity; readonly at: FieldPath; readonly found: Violation[] },
): readonly Generated[] {
  if (!outlierDetection) return [];
  checkFields(outlierDetection, EJECTION, at, found);
  const { maxServerErrors, maxEjectionPercent } = outlierDetection;
  const times = (['interval', 'baseEjectionDuration'] as const).map((field) => {
    const given = outlierDetection[field];
    const text = given && formatInterval(given);
    if (given && text === undefined)
      found.push(at.field(field).violation('must be 100ms to 24h in whole seconds, minutes or hours', 'out-of-range'));
    return text;
  });
  const [interval, time] = times;
  const ejection = {
    ...(maxServerErrors === undefined ? {} : { consecutiveErrors: maxServerErrors }),
    ...(interval === undefined ? {} : { interval }),
    ...(time === undefined ? {} : { time }),
    ...(maxEjectionPercent === undefined ? {} : { maxPercent: maxEjectionPercent }),
  };
  const target = { group: 'kuma.io', kind: 'MeshService', name, sectionName: String(port) };
  return [
    generatePolicy(id, { kind: 'CircuitBreakerPolicy', name: `${name}-${port}`, from: 'VirtualNode' }, target, {
      ejection,
    }),
  ];
}
