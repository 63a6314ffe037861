import { FieldPath, Invalid, isJsonObject, shortened, type Violation } from '@causeway/resources';
import { isPort, NODE_NAMESPACE, RESOLVES_NAMES, type Capture } from '@causeway/xds-translation';
import type { ProxyCaller } from '@causeway/xds-server';

/**
 * Location of a proxy's key: `file`, created on its machine, with a CSR for it; `delivered`, created by the control
 * plane and sent with the certificate (kuma-dp only); `none`, the proxy gets its certificate elsewhere.
 */
export type ProxyKey =
  | { readonly type: 'file'; readonly csr: string; readonly path: string }
  | { readonly type: 'delivered' }
  | { readonly type: 'none' };

/** Facts reported by proxies of Causeway's agent. */
interface AgentFacts {
  readonly isAgent?: boolean;
  /** The proxy resolves host names itself, and does not dial addresses that its machine forbids. */
  readonly resolvesNames?: boolean;
}

/** Proxy as it describes itself, unverified. */
export type ProxyNode =
  | ({
      readonly type: 'dataplane';
      readonly mesh: string;
      /** Name, or `name.namespace`. */
      readonly name: string;
      /** Set by agents outside `default`; `name` then refers to one Dataplane only. */
      readonly namespace?: string;
      /** Absent for a proxy that only serves. */
      readonly capture?: Capture;
      readonly key: ProxyKey;
      /** File of the authorities that its machine trusts. */
      readonly systemAuthorities?: string;
      /** Dataplane that the proxy registers, as JSON (kuma-dp). */
      readonly document?: string;
      /** Absent for Envoy. */
      readonly wire?: 'grpc';
    } & AgentFacts)
  | ({ readonly type: 'ingress'; readonly name: string } & AgentFacts)
  | {
      readonly type: 'egress';
      readonly name: string;
      readonly key: ProxyKey;
      /** File of the authorities that its machine trusts. */
      readonly systemAuthorities?: string;
    };

/** Default ports for redirected connections, and for their re-entry. */
const REDIRECT_PORT = 15_001;
const REENTRY_PORT = 15_011;
const MAX_NAME_LENGTH = 512;
const MAX_CSR_LENGTH = 8_192;
const MAX_PATH_LENGTH = 4_096;

const AT = FieldPath.at('node');
const METADATA = AT.field('metadata');

/**
 * Reads a proxy's node: `<mesh>.<name>` for a Dataplane, `.<name>` for a zone proxy, as in Kuma; Causeway's metadata
 * begin with `causeway.io/` (docs/reference/xds.md, Proxies). Throws Invalid with every violation.
 */
export function readProxyNode(caller: Pick<ProxyCaller, 'node' | 'metadata' | 'userAgent'>): ProxyNode {
  const { node, metadata } = caller;
  const type = metadata['dataplane.proxyType'] ?? 'dataplane';
  if (type === 'ingress') return { type, name: zoneProxyName(node), ...readAgentFacts(caller) };
  if (type === 'egress') return egressNode(zoneProxyName(node), metadata);
  if (type !== 'dataplane')
    throw new Invalid([wrong('dataplane.proxyType', 'must be dataplane, ingress or egress', type)]);
  const dot = node.indexOf('.');
  const [mesh, name] = [node.slice(0, Math.max(0, dot)), node.slice(dot + 1)];
  if (mesh === '' || name === '' || node.length > MAX_NAME_LENGTH)
    throw new Invalid([
      AT.field('id').violation(`must be <mesh>.<name>; got ${JSON.stringify(shortened(node, 100))}`, 'wrong-form'),
    ]);
  const violations: Violation[] = [];
  const capture = readCapture(caller, violations);
  const key = readProxyKey(metadata, violations);
  const namespace = readNamespace(name, metadata, violations);
  if (violations.length > 0) throw new Invalid(violations);
  const systemAuthorities = readAuthoritiesFile(metadata);
  const wire = /^grpc/i.test(caller.userAgent) ? ('grpc' as const) : undefined;
  const { 'dataplane.resource': document } = metadata;
  return {
    type,
    mesh,
    name,
    key,
    ...readAgentFacts(caller),
    ...(namespace !== undefined && { namespace }),
    ...(capture && { capture }),
    ...(wire && { wire }),
    ...(systemAuthorities !== undefined && { systemAuthorities }),
    ...(typeof document === 'string' && document !== '' && { document }),
  };
}

/** Reads the namespace of an agent's node; the id must end with it. */
function readNamespace(name: string, metadata: ProxyMetadata, violations: Violation[]): string | undefined {
  const { [NODE_NAMESPACE]: given } = metadata;
  if (given === undefined || (typeof given === 'string' && given !== '' && name.endsWith(`.${given}`))) return given;
  violations.push(wrong(NODE_NAMESPACE, 'must be the namespace that the id ends with', given));
  return undefined;
}

/** Proxies that need addresses (mode `direct`, gRPC) report no name resolution. */
function readAgentFacts({ metadata, userAgent }: Pick<ProxyCaller, 'metadata' | 'userAgent'>): AgentFacts {
  if (!userAgent.startsWith('causeway-agent ')) return {};
  const resolvesNames = metadata[RESOLVES_NAMES] === true && metadata['causeway.io/capture'] !== 'translate';
  return { isAgent: true, ...(resolvesNames && { resolvesNames }) };
}

function egressNode(name: string, metadata: ProxyMetadata): ProxyNode {
  const violations: Violation[] = [];
  const key = readProxyKey(metadata, violations);
  if (violations.length > 0) throw new Invalid(violations);
  const systemAuthorities = readAuthoritiesFile(metadata);
  return { type: 'egress', name, key, ...(systemAuthorities !== undefined && { systemAuthorities }) };
}

function zoneProxyName(node: string): string {
  const name = node.startsWith('.') ? node.slice(1) : node;
  if (name !== '' && node.length <= MAX_NAME_LENGTH) return name;
  const rule = 'must be .<name>, the name of its ZoneIngress or ZoneEgress';
  throw new Invalid([AT.field('id').violation(`${rule}; got ${JSON.stringify(shortened(node, 100))}`, 'wrong-form')]);
}

type ProxyMetadata = ProxyCaller['metadata'];

function readCapture(
  { metadata, userAgent }: Pick<ProxyCaller, 'metadata' | 'userAgent'>,
  violations: Violation[],
): Capture | undefined {
  const given = metadata['causeway.io/capture'] ?? 'none';
  switch (given) {
    case 'none':
      return undefined;
    case 'bind': {
      const onDemand = readFlag(metadata, 'causeway.io/bind-on-demand', violations);
      return { type: 'bind', ...(onDemand && { onDemand }) };
    }
    case 'translate':
      return { type: 'translate' };
    case 'redirect': {
      const port = readPort(metadata, 'causeway.io/redirect-port', REDIRECT_PORT, violations);
      const reentry = readPort(metadata, 'causeway.io/reentry-port', REENTRY_PORT, violations);
      if (port === reentry)
        violations.push(wrong('causeway.io/reentry-port', 'must not be the redirect-port', reentry));
      // The kernel redirects to loopback.
      const at = (of: number) => ({ address: '127.0.0.1', port: of });
      const withoutChains = isBefore140(userAgent);
      // A machine without IPv6 cannot listen at an IPv6 address.
      const ipv6 = readFlag(metadata, 'causeway.io/redirect-ipv6', violations);
      return {
        type: 'redirect',
        at: at(port),
        reentry: at(reentry),
        ...(withoutChains && { withoutChains }),
        ...(ipv6 && { ipv6 }),
      };
    }
    default:
      violations.push(wrong('causeway.io/capture', 'must be bind, redirect, translate or none', given));
      return undefined;
  }
}

/** Filter chains as separate resources need Envoy 1.40; an unknown version counts as newer. */
function isBefore140(userAgent: string): boolean {
  const [, major, minor] = /^envoy (\d{1,4})\.(\d{1,4})\b/i.exec(userAgent) ?? [];
  return major !== undefined && (Number(major) < 1 || (major === '1' && Number(minor) < 40));
}

/** Reads a port as number (protobuf metadata) or text (command line). */
function readPort(metadata: ProxyMetadata, field: string, fallback: number, violations: Violation[]): number {
  const given = metadata[field] ?? fallback;
  const port = typeof given === 'string' && /^\d{1,5}$/.test(given) ? Number(given) : given;
  if (isPort(port)) return port;
  violations.push(wrong(field, 'must be a port, 1 to 65535', given));
  return fallback;
}

/** Reads a flag as boolean or text. */
function readFlag(metadata: ProxyMetadata, field: string, violations: Violation[]): boolean {
  const given = metadata[field] ?? false;
  if (typeof given === 'boolean') return given;
  if (given !== 'true' && given !== 'false') violations.push(wrong(field, 'must be true or false', given));
  return given === 'true';
}

function readProxyKey(metadata: ProxyMetadata, violations: Violation[]): ProxyKey {
  const { 'causeway.io/csr': csr, 'causeway.io/key-file': path } = metadata;
  if (csr === undefined && path === undefined) return { type: isKumaDp(metadata) ? 'delivered' : 'none' };
  const isCsr = typeof csr === 'string' && csr.length <= MAX_CSR_LENGTH;
  const isPath = isAbsolutePath(path);
  if (!isCsr)
    violations.push(wrong('causeway.io/csr', `must be a CSR in PEM, at most ${MAX_CSR_LENGTH} characters`, csr));
  if (!isPath) violations.push(wrong('causeway.io/key-file', 'must be an absolute path', path));
  return isCsr && isPath ? { type: 'file', csr, path } : { type: 'none' };
}

/** Reads the authorities file, also in kuma-dp's form; a path that is not absolute is ignored. */
function readAuthoritiesFile(metadata: ProxyMetadata): string | undefined {
  const path = metadata['causeway.io/authorities-file'] ?? metadata['systemCaPath'];
  return isAbsolutePath(path) ? path : undefined;
}

function isAbsolutePath(path: unknown): path is string {
  return typeof path === 'string' && path.startsWith('/') && path.length <= MAX_PATH_LENGTH && !path.includes('\0');
}

/** Returns whether kuma-dp runs this proxy: it reports its version. */
function isKumaDp(metadata: ProxyMetadata): boolean {
  const { version } = metadata;
  return isJsonObject(version) && isJsonObject(version['kumaDp']);
}

function wrong(field: string, rule: string, got: unknown): Violation {
  const text = got === undefined ? 'nothing' : (JSON.stringify(got) ?? 'nothing');
  return METADATA.field(field).violation(`${rule}; got ${shortened(text, 100, '…')}`, 'wrong-form');
}
