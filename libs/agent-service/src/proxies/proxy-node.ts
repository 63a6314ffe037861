import { FieldPath, Invalid, isJsonObject, shortened, type Violation } from '@causeway/resources';
import { isPort, NODE_NAMESPACE, RESOLVES_NAMES, type Capture } from '@causeway/xds-translation';
import type { ProxyCaller } from '@causeway/xds-server';

/**
 * Where the key of a proxy's certificate is: `file`, made on its machine and named there, with a CSR for it; `delivered`, made by
 * the control plane and sent with the certificate (kuma-dp only); `none`, the proxy gets its certificate elsewhere.
 */
export type ProxyKey =
  | { readonly type: 'file'; readonly csr: string; readonly path: string }
  | { readonly type: 'delivered' }
  | { readonly type: 'none' };

/** Facts that a proxy reports which an agent of Causeway runs. */
interface AgentFacts {
  readonly isAgent?: boolean;
  /** It resolves host names itself, and dials none of their addresses that its machine may not dial. */
  readonly resolvesNames?: boolean;
}

/** A proxy as it describes itself: nothing of it is proven. */
export type ProxyNode =
  | ({
      readonly type: 'dataplane';
      readonly mesh: string;
      /** A name, or `name.namespace`. */
      readonly name: string;
      /** Said by agents where it is not `default`: with it `name` is of one Dataplane only. */
      readonly namespace?: string;
      /** Absent for a proxy that only serves. */
      readonly capture?: Capture;
      readonly key: ProxyKey;
      /** The file of the authorities that its machine believes. */
      readonly systemAuthorities?: string;
      /** The Dataplane that it brings along, as JSON (kuma-dp). */
      readonly document?: string;
      /** Absent for Envoy. */
      readonly wire?: 'grpc';
    } & AgentFacts)
  | ({ readonly type: 'ingress'; readonly name: string } & AgentFacts)
  | {
      readonly type: 'egress';
      readonly name: string;
      readonly key: ProxyKey;
      /** The file of the authorities that its machine believes. */
      readonly systemAuthorities?: string;
    };

/** Where redirected connections arrive, and where first ones enter again, if the node does not say. */
const REDIRECT_PORT = 15_001;
const REENTRY_PORT = 15_011;
const MAX_NAME_LENGTH = 512;
const MAX_CSR_LENGTH = 8_192;
const MAX_PATH_LENGTH = 4_096;

const AT = FieldPath.at('node');
const METADATA = AT.field('metadata');

/**
 * Reads the node of a proxy: `<mesh>.<name>` for a Dataplane, `.<name>` for a zone proxy, as Kuma writes them; what Causeway adds
 * stands in the metadata under `causeway.io/` (docs/reference/xds.md, Proxies). Throws Invalid with every violation.
 */
export function readProxyNode(caller: Pick<ProxyCaller, 'node' | 'metadata' | 'userAgent'>): ProxyNode {
  const { node, metadata } = caller;
  const type = metadata['dataplane.proxyType'] ?? 'dataplane';
  if (type === 'ingress') return { type, name: zoneProxyName(node), ...agentFacts(caller) };
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
    ...agentFacts(caller),
    ...(namespace !== undefined && { namespace }),
    ...(capture && { capture }),
    ...(wire && { wire }),
    ...(systemAuthorities !== undefined && { systemAuthorities }),
    ...(typeof document === 'string' && document !== '' && { document }),
  };
}

/** The namespace that an agent says, which its id must end with. */
function readNamespace(name: string, metadata: ProxyMetadata, violations: Violation[]): string | undefined {
  const { [NODE_NAMESPACE]: given } = metadata;
  if (given === undefined || (typeof given === 'string' && given !== '' && name.endsWith(`.${given}`))) return given;
  violations.push(wrong(NODE_NAMESPACE, 'must be the namespace that the id ends with', given));
  return undefined;
}

/** The kernel takes addresses only; so does gRPC, whose agent gives another name. */
function agentFacts({ metadata, userAgent }: Pick<ProxyCaller, 'metadata' | 'userAgent'>): AgentFacts {
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
    case 'bind':
      return { type: 'bind' };
    case 'translate':
      return { type: 'translate' };
    case 'redirect': {
      const port = readPort(metadata, 'causeway.io/redirect-port', REDIRECT_PORT, violations);
      const reentry = readPort(metadata, 'causeway.io/reentry-port', REENTRY_PORT, violations);
      if (port === reentry)
        violations.push(wrong('causeway.io/reentry-port', 'must not be the redirect-port', reentry));
      // The kernel's redirect leads to loopback.
      const at = (of: number) => ({ address: '127.0.0.1', port: of });
      const withoutChains = isBefore140(userAgent);
      // A machine without IPv6 has no such address to listen at.
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

/** Filter chains as resources of their own came with Envoy 1.40; a version that is not known counts as new. */
function isBefore140(userAgent: string): boolean {
  const [, major, minor] = /^envoy (\d{1,4})\.(\d{1,4})\b/i.exec(userAgent) ?? [];
  return major !== undefined && (Number(major) < 1 || (major === '1' && Number(minor) < 40));
}

/** A port as a number, or as a text: metadata of protobuf has numbers, of command lines texts. */
function readPort(metadata: ProxyMetadata, field: string, fallback: number, violations: Violation[]): number {
  const given = metadata[field] ?? fallback;
  const port = typeof given === 'string' && /^\d{1,5}$/.test(given) ? Number(given) : given;
  if (isPort(port)) return port;
  violations.push(wrong(field, 'must be a port, 1 to 65535', given));
  return fallback;
}

/** A flag as a boolean, or as a text. */
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

/** Also as kuma-dp says it. What is no absolute path is passed over: the services that need it say so. */
function readAuthoritiesFile(metadata: ProxyMetadata): string | undefined {
  const path = metadata['causeway.io/authorities-file'] ?? metadata['systemCaPath'];
  return isAbsolutePath(path) ? path : undefined;
}

function isAbsolutePath(path: unknown): path is string {
  return typeof path === 'string' && path.startsWith('/') && path.length <= MAX_PATH_LENGTH && !path.includes('\0');
}

/** Whether Kuma's own program runs this proxy: it says its version. */
function isKumaDp(metadata: ProxyMetadata): boolean {
  const { version } = metadata;
  return isJsonObject(version) && isJsonObject(version['kumaDp']);
}

function wrong(field: string, rule: string, got: unknown): Violation {
  const text = got === undefined ? 'nothing' : (JSON.stringify(got) ?? 'nothing');
  return METADATA.field(field).violation(`${rule}; got ${shortened(text, 100, '…')}`, 'wrong-form');
}
