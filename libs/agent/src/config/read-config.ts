import { isIP } from 'node:net';
import { parseYaml, Unparsable, type TextPosition } from '@causeway/yaml';
import {
  checkName,
  checkNamespace,
  compileSchema,
  durationMs,
  FieldPath,
  isJsonObject,
  Violations,
  type Violation,
} from '@causeway/resources';
import { parseDialRules } from '@causeway/ipam';
import { listCapturingDataplanes } from './clients';
import { parseTrustedRanges } from '../direct/direct-endpoints';
import { formatQualifiedName } from './qualified-name';
import { AgentSchema, type AgentConfig, type HealthCheckConfig } from './schema';

/** Maximum length of a file, in characters. */
const MAX_FILE_LENGTH = 1_048_576;
/** Maximum number of keys and values of a file. */
const MAX_VALUES = 100_000;

const schema = compileSchema(AgentSchema);
const TOP = FieldPath.at();

/** Violation with its position in the file; absent if it comes from a flag or concerns the whole file. */
export interface ConfigProblem extends Violation {
  readonly at?: TextPosition;
}

export type ConfigResult =
  | { readonly ok: true; readonly config: AgentConfig }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

/**
 * Reads the configuration from YAML text; `flags` (top-level fields) override it, and defaults fill it. All problems
 * are reported at once, with line and column.
 */
export function readConfig(text: string, flags: Readonly<Record<string, unknown>> = {}): ConfigResult {
  try {
    const [document, ...more] = parseYaml(text, { length: MAX_FILE_LENGTH, nodes: MAX_VALUES });
    if (more.length > 0) return refused([TOP.violation('must be one document', 'too-many')]);
    const value = document?.value ?? {};
    if (!isJsonObject(value)) return refused([TOP.violation('must be an object', 'wrong-type')]);
    const result = checkConfig({ ...value, ...flags });
    if (result.ok || !document) return result;
    const placed = result.problems.map((problem) => {
      const [, top = ''] = /^([A-Za-z_][\w-]*)/.exec(problem.field) ?? [];
      return Object.hasOwn(flags, top) ? problem : { ...problem, at: document.locate(problem.field) };
    });
    return refused(placed);
  } catch (error) {
    if (error instanceof Unparsable) return refused(error.violations);
    throw error;
  }
}

/** Like `readConfig`, for a parsed value. */
export function checkConfig(value: unknown): ConfigResult {
  const found = new Violations();
  const filled = schema.withDefaults(value);
  schema.check(filled, TOP, found);
  if (!schema.fits(filled)) return refused(found.first.map(explainIngressField));
  const problems = [...checkRules(filled)];
  return problems.length > 0 ? refused(problems) : { ok: true, config: filled };
}

/** The address of an ingress is configured in its ZoneIngress, not in its agent. */
function explainIngressField(violation: Violation): Violation {
  if (!/^ingress\.(address|port|advertisedAddress|advertisedPort)$/.test(violation.field)) return violation;
  return { ...violation, reason: 'is not set here but in its ZoneIngress: spec.networking' };
}

/** Formats one line per problem: `agent.yaml:4:7: dataplanes[0].address: …`. */
export function formatProblems(file: string, problems: readonly ConfigProblem[]): readonly string[] {
  return problems.map(({ field, reason, at }) =>
    [at ? `${file}:${at.line}:${at.column}` : file, field, reason].filter((part) => part !== '').join(': '),
  );
}

function refused(problems: readonly ConfigProblem[]): ConfigResult {
  return { ok: false, problems };
}

/** Checks rules that the schema cannot express. */
function* checkRules(config: AgentConfig): Iterable<Violation> {
  const { dataplanes, ingress, bundle, controlPlanes, dns, metrics } = config;
  if (bundle === undefined && controlPlanes === undefined)
    yield TOP.violation('controlPlanes or bundle: one of them is required', 'required');
  if (ingress && dataplanes.length > 0)
    yield TOP.field('ingress').violation('must not stand beside dataplanes: an ingress is an agent of its own');
  if (!ingress && dataplanes.length === 0)
    yield TOP.field('dataplanes').violation('must have an item, unless there is an ingress', 'too-few');
  for (const [i, address] of (controlPlanes ?? []).entries())
    yield* checkPort(address, TOP.field('controlPlanes').index(i));
  for (const [i, address] of (dns?.upstream ?? []).entries())
    yield* checkPort(address, TOP.field('dns').field('upstream').index(i));
  if (dns && !isLoopback(dns.address))
    yield TOP.field('dns')
      .field('address')
      .violation(`must be an address of loopback; got ${JSON.stringify(dns.address)}`, 'not-allowed');
  if (metrics) yield* checkAddress(metrics.address, TOP.field('metrics').field('address'));
  yield* dialRules(config);
  yield* directRules(config);
  yield* grpcRules(config);
  yield* dataplaneRules(config);
  yield* clientRules(config);
}

function* dialRules({ mayDial }: AgentConfig): Iterable<Violation> {
  for (const [i, text] of (mayDial ?? []).entries()) {
    const parsed = parseDialRules([text]);
    if (!parsed.ok) yield TOP.field('mayDial').index(i).violation(parsed.errors.join('; '), 'wrong-form');
  }
}

/** Users are distinguished by kernel rules that redirect to one of several Envoys. */
function* clientRules(config: AgentConfig): Iterable<Violation> {
  const { dataplanes, capture, plane } = config;
  const users = new Set<string>();
  for (const [i, { clients }] of dataplanes.entries()) {
    const at = TOP.field('dataplanes').index(i).field('clients');
    if (!clients) continue;
    if (capture !== 'redirect')
      yield at.violation(`must not stand where capture is ${capture}: only redirect tells users apart`, 'not-allowed');
    if (plane !== undefined && plane !== 'envoy')
      yield at.violation(`must not stand where plane is ${plane}: only envoy tells users apart`, 'not-allowed');
    for (const [j, user] of clients.users.entries()) {
      if (users.has(user)) yield at.field('users').index(j).violation(`is named before: ${user}`, 'not-unique');
      users.add(user);
    }
  }
  if (capture !== 'redirect') return;
  const ports = listCapturingDataplanes(config).flatMap(({ port, reentryPort }) => [port, reentryPort]);
  const wrong = ports.find((port, i) => port > 65_535 || ports.indexOf(port) !== i);
  if (ports.length > 2 && wrong !== undefined)
    yield TOP.field('redirect').violation(
      `must have ports that leave room for ${ports.length / 2} Dataplanes, 20 for each; got ${wrong} twice or above 65535`,
      'out-of-range',
    );
}

/** Mode `direct` has no proxy and no identity: fields that need one are refused, and `trustedNetworks` is required. */
function* directRules(config: AgentConfig): Iterable<Violation> {
  const { plane, trustedNetworks, capture, ingress, dataplanes } = config;
  for (const [i, range] of (trustedNetworks ?? []).entries())
    yield* checkRange(range, TOP.field('trustedNetworks').index(i), '10.0.0.0/8');
  if (plane !== 'direct') return;
  const why = 'where plane is direct';
  if (!trustedNetworks)
    yield TOP.field('trustedNetworks').violation(
      `is required ${why}: nothing is encrypted, nobody is known`,
      'required',
    );
  if (ingress) yield TOP.field('ingress').violation(`must not stand ${why}: it is entered by TLS`, 'not-allowed');
  if (capture !== 'redirect' && capture !== 'none')
    yield TOP.field('capture').violation(`must be redirect or none ${why}; got ${capture}`, 'not-allowed');
  const isTrusted = trustedNetworks?.every(isRange) ? parseTrustedRanges(trustedNetworks) : () => true;
  for (const [i, { address }] of dataplanes.entries()) {
    const at = TOP.field('dataplanes').index(i);
    if (isIP(address) !== 0 && !isTrusted(address))
      yield at.field('address').violation(`must be in trustedNetworks ${why}; got ${address}`, 'not-allowed');
  }
  yield* unproxiedRules(config, why);
}

/** In mode `grpc`, programs communicate without a proxy. */
function* grpcRules(config: AgentConfig): Iterable<Violation> {
  const { plane, capture, ingress } = config;
  if (plane !== 'grpc') return;
  const why = 'where plane is grpc';
  if (ingress) yield TOP.field('ingress').violation(`must not stand ${why}: it is a proxy`, 'not-allowed');
  if (capture !== 'outbounds' && capture !== 'none')
    yield TOP.field('capture').violation(`must be none ${why}; got ${capture}`, 'not-allowed');
  yield* unproxiedRules(config, why);
}

/** Processes accept mesh connections themselves. */
function* unproxiedRules({ dataplanes }: AgentConfig, why: string): Iterable<Violation> {
  for (const [i, { services, outbounds }] of dataplanes.entries()) {
    const at = TOP.field('dataplanes').index(i);
    if (outbounds.length > 0) yield at.field('outbounds').violation(`must be empty ${why}`, 'not-allowed');
    for (const [j, { port, servicePort = port, guardInbound }] of services.entries()) {
      const inner = at.field('services').index(j);
      if (servicePort !== port)
        yield inner
          .field('servicePort')
          .violation(
            `must be port (${port}) ${why}: the process takes the connections; got ${servicePort}`,
            'not-allowed',
          );
      if (guardInbound) yield inner.field('guardInbound').violation(`must not be true ${why}`, 'not-allowed');
    }
  }
}

function* dataplaneRules({ dataplanes, capture, redirect, plane }: AgentConfig): Iterable<Violation> {
  if (redirect && redirect.port === redirect.reentryPort)
    yield TOP.field('redirect').field('reentryPort').violation('must not be redirect.port', 'not-unique');
  for (const [i, range] of (redirect?.ranges ?? []).entries())
    yield* checkRange(range, TOP.field('redirect').field('ranges').index(i), '241.0.0.0/8');
  const names = new Set<string>();
  const places = new Set<string>();
  for (const [i, { name, namespace, address, services, outbounds }] of dataplanes.entries()) {
    const at = TOP.field('dataplanes').index(i);
    yield* checkName(name, at.field('name'));
    yield* checkNamespace(namespace, at.field('namespace'));
    const qualified = formatQualifiedName({ name, namespace });
    if (names.has(qualified))
      yield at.field('name').violation(`is the name of another Dataplane: ${JSON.stringify(qualified)}`, 'not-unique');
    names.add(qualified);
    yield* checkAddress(address, at.field('address'));
    for (const [j, service] of services.entries()) {
      const inner = at.field('services').index(j);
      yield* checkUnusedAddress(places, `${address}:${service.port}`, inner.field('port'));
      yield* checkAddress(service.serviceAddress, inner.field('serviceAddress'));
      if (
        plane !== 'direct' &&
        plane !== 'grpc' &&
        service.serviceAddress === address &&
        (service.servicePort ?? service.port) === service.port
      )
        yield inner
          .field('servicePort')
          .violation(`must not be the port of the proxy at the same address; got ${service.port}`, 'not-unique');
      if (service.health) yield* healthRules(service.health, inner.field('health'));
    }
    for (const [j, outbound] of outbounds.entries()) {
      const inner = at.field('outbounds').index(j);
      yield* checkUnusedAddress(places, `${outbound.address}:${outbound.port}`, inner.field('port'));
      yield* checkAddress(outbound.address, inner.field('address'));
      if ((outbound.backend.name === undefined) === (outbound.backend.labels === undefined))
        yield inner.field('backend').violation('must have either name or labels', 'required');
    }
    if (capture === 'none' && outbounds.length > 0)
      yield at.field('outbounds').violation('must be empty where capture is none', 'not-allowed');
  }
}

const CHECKS = ['tcp', 'http', 'grpc', 'command'] as const;

function* healthRules(health: HealthCheckConfig, at: FieldPath): Iterable<Violation> {
  const given = CHECKS.filter((check) => health[check] !== undefined);
  if (given.length !== 1)
    yield at.violation(`must have one of ${CHECKS.join(', ')}; got ${given.join(', ') || 'none'}`, 'required');
  if (health.user !== undefined && health.command === undefined)
    yield at.field('user').violation('is for a command only', 'not-allowed');
  const interval = durationMs(health.interval) ?? 0;
  const timeout = durationMs(health.timeout) ?? 0;
  if (interval < 100 || interval > 3_600_000)
    yield at.field('interval').violation(`must be 100ms to 1h; got ${health.interval}`, 'out-of-range');
  if (timeout < 10 || timeout > 300_000)
    yield at.field('timeout').violation(`must be 10ms to 5m; got ${health.timeout}`, 'out-of-range');
}

function* checkUnusedAddress(places: Set<string>, place: string, at: FieldPath): Iterable<Violation> {
  if (places.has(place)) yield at.violation(`is used by another service or outbound: ${place}`, 'not-unique');
  places.add(place);
}

function* checkAddress(address: string, at: FieldPath): Iterable<Violation> {
  if (isIP(address) === 0) yield at.violation(`must be an IP address; got ${JSON.stringify(address)}`, 'wrong-form');
}

function* checkPort(address: string, at: FieldPath): Iterable<Violation> {
  const port = Number(address.slice(address.lastIndexOf(':') + 1));
  if (port < 1 || port > 65_535) yield at.violation(`must have a port of 1 to 65535; got ${port}`, 'out-of-range');
}

function* checkRange(range: string, at: FieldPath, example: string): Iterable<Violation> {
  if (!isRange(range))
    yield at.violation(`must be a range such as ${example}; got ${JSON.stringify(range)}`, 'wrong-form');
}

/** Returns whether a text is an IP address with a prefix length of at least 4 bits; a larger range is a mistake. */
export function isRange(text: string): boolean {
  const [address = '', length = '', ...more] = text.split('/');
  const family = isIP(address);
  if (family === 0 || more.length > 0 || !/^\d{1,3}$/.test(length)) return false;
  return Number(length) >= 4 && Number(length) <= (family === 4 ? 32 : 128);
}

function isLoopback(address: string): boolean {
  return address === '::1' || (isIP(address) === 4 && address.startsWith('127.'));
}
