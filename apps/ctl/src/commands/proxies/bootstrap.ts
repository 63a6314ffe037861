import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import { dataplaneTokens, getResource, showAuthority, showConfig, zoneTokens } from '@causeway/api';
import { ApiError, type ApiClient } from '@causeway/api-client';
import { createWorkloadKey } from '@causeway/identity';
import type { JsonObject } from '@causeway/resources';
import {
  envoyBootstrap,
  tokenSecret,
  ZONE_PROXY_CONNECTIONS,
  type ControlPlaneAddress,
} from '@causeway/xds-translation';
import { UsageError, type CommandContext } from '../../context';
import { textAt } from '../../render';
import { resolveConnection } from '../../settings/connection';
import { writeGrpcFiles } from './grpc-files';
import { readGiven, writeOwn } from './local-files';

/** Options of `causeway proxies bootstrap`. */
export interface BootstrapOptions {
  readonly ingress?: string;
  readonly egress?: string;
  readonly maxConnections?: string;
  readonly dir: string;
  readonly xds?: readonly string[];
  readonly xdsCaFile?: string;
  readonly capture: 'bind' | 'redirect' | 'none';
  readonly tokenFile?: string;
  readonly validFor: string;
  readonly adminPort?: string;
  /** Whether it is for a program that uses gRPC without a proxy. */
  readonly grpc?: boolean;
  /** PEM file: the authorities that the proxy's host trusts outside the mesh. */
  readonly authoritiesFile?: string;
}

/** The resource that the proxy belongs to. */
type Subject =
  | { readonly type: 'dataplane'; readonly mesh: string; readonly name: string }
  | { readonly type: 'ingress' | 'egress'; readonly name: string };

const KEY_FILE = 'key.pem';
const TOKEN_FILE = 'token.json';
const BOOTSTRAP_FILE = 'envoy.yaml';

/**
 * `causeway proxies bootstrap`: a new key that stays on this host, its CSR, the token and the bootstrap of an Envoy, readable by their owner only.
 * Prints the command line that starts it.
 */
export async function bootstrapProxy(
  context: CommandContext,
  proxy: string | undefined,
  options: BootstrapOptions,
): Promise<number> {
  const api = await context.api();
  const settings = await api.rest.call(showConfig);
  const subject = parseSubject(proxy, options, textAt(settings, 'CAUSEWAY_MESH_NAME'));
  const grpcSubject = options.grpc === true ? requireDataplane(subject) : undefined;
  const zone = textAt(settings, 'CAUSEWAY_ZONE_NAME');
  await checkDeclared(api, subject);
  const token =
    options.tokenFile === undefined ? await issued(api, subject, zone, options) : readGiven(options.tokenFile).trim();
  const authority = await authorityFor(api, settings, options);
  const controlPlanes = findProxyAddresses(context, settings, options.xds);
  const folder = resolve(options.dir);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (grpcSubject) {
    const start = { ...grpcSubject, zone, token, controlPlanes, folder, ...(authority !== undefined && { authority }) };
    return writeGrpcFiles(context, start);
  }
  const { privateKey, csr } = await createWorkloadKey();
  const keyFile = join(folder, KEY_FILE);
  const tokenFile = join(folder, TOKEN_FILE);
  const bootstrap = envoyBootstrap({
    node: { ...describeNode(subject), metadata: describeMetadata(subject, { ...options, csr, keyFile }) },
    controlPlanes,
    ...(authority !== undefined && { authority }),
    token: { file: tokenFile },
    protocol: 'delta',
    admin: parseAdmin(options, folder),
    ...parseConnections(subject, options),
  });
  writeOwn(keyFile, privateKey);
  writeOwn(tokenFile, `${JSON.stringify(tokenSecret(token))}\n`);
  const file = join(folder, BOOTSTRAP_FILE);
  writeOwn(file, stringify(bootstrap));
  context.print(`envoy -c ${quoted(file)} --use-dynamic-base-id --drain-time-s 1`);
  return 0;
}

function parseSubject(proxy: string | undefined, { ingress, egress }: BootstrapOptions, expectedMesh: string): Subject {
  if ([proxy, ingress, egress].filter((name) => name !== undefined).length !== 1)
    throw new UsageError('name either a Dataplane as MESH/NAME, --ingress NAME or --egress NAME');
  if (ingress !== undefined) return { type: 'ingress', name: ingress };
  if (egress !== undefined) return { type: 'egress', name: egress };
  const [, mesh, name = ''] = /^(?:([^/]+)\/)?([^/]+)$/.exec(proxy ?? '') ?? [];
  if (name === '') throw new UsageError(`"${proxy}" names no Dataplane; write it like default/redis-1`);
  return { type: 'dataplane', mesh: mesh ?? (expectedMesh || 'default'), name };
}

function requireDataplane(subject: Subject): Subject & { readonly type: 'dataplane' } {
  if (subject.type !== 'dataplane') throw new UsageError('--grpc is for a Dataplane');
  return subject;
}

/** Throws if the ZoneIngress or ZoneEgress of a zone proxy does not exist: the proxy would be refused with any token. */
async function checkDeclared(api: ApiClient, subject: Subject): Promise<void> {
  if (subject.type === 'dataplane') return;
  const { type, name } = subject;
  const isIngress = type === 'ingress';
  const [kind, plural] = isIngress
    ? (['ZoneIngress', 'zoneingresses'] as const)
    : (['ZoneEgress', 'zoneegresses'] as const);
  await api.rest.call(getResource, { path: { plural, name } }).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.code !== 'not-found') throw error;
    throw new UsageError(`--${type}: there is no ${kind} ${JSON.stringify(name)} here (causeway get ${plural})`, {
      cause: error,
    });
  });
}

/** Returns a new token that is bound to the Dataplane, and to its workload if a label names one; for a zone proxy a zone token. */
async function issued(api: ApiClient, subject: Subject, zone: string, { validFor }: BootstrapOptions): Promise<string> {
  if (subject.type !== 'dataplane') return issuedToZoneProxy(api, subject, zone, validFor);
  const { mesh, name } = subject;
  const dataplane = await api.rest.call(getResource, { path: { mesh, plural: 'dataplanes', name } });
  const workload = textAt(dataplane, 'labels', 'kuma.io/workload');
  const body = { mesh, name, validFor, ...(workload !== '' && { workload }) };
  return (await api.rest.call(dataplaneTokens.issue, { body })).token;
}

/** Returns the command that issues a zone token at the global: a zone with a global issues none. */
export function tokenCommandAtGlobal(zone: string, scope: readonly string[] = []): string {
  return ['causeway --context global tokens zone', zone, ...scope.map((each) => `--scope ${each}`), '> FILE'].join(' ');
}

/** Only a zone without a global issues zone tokens. */
async function issuedToZoneProxy(
  api: ApiClient,
  { type }: Subject & { readonly type: 'ingress' | 'egress' },
  zone: string,
  validFor: string,
): Promise<string> {
  const body = { zone, scope: [type], validFor };
  const answer = await api.rest.call(zoneTokens.issue, { body }).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.code !== 'not-found') throw error;
    const made = tokenCommandAtGlobal(zone, [type]);
    throw new UsageError(`--${type} needs --token-file, for the global issues zone tokens: ${made}`, { cause: error });
  });
  return answer.token;
}

/** Returns the authorities of the xDS port in PEM; undefined if the port is plaintext. */
export async function authorityFor(
  api: ApiClient,
  settings: JsonObject,
  { xdsCaFile }: Pick<BootstrapOptions, 'xdsCaFile'>,
): Promise<string | undefined> {
  if (xdsCaFile !== undefined) return readGiven(xdsCaFile);
  if (!isTls(settings)) return undefined;
  if (textAt(settings, 'CAUSEWAY_XDS_TLS_CERT_FILE') !== '')
    throw new UsageError('the xDS port has a certificate of its own: name what verifies it, --xds-ca-file FILE');
  return api.rest.text(showAuthority).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.code !== 'not-found') throw error;
    throw new UsageError('name the certificates that verify the xDS port: --xds-ca-file FILE', { cause: error });
  });
}

/** Applies the zone's rule: TLS if it is set, if a certificate is given, or if the port is reachable beyond loopback. */
function isTls(settings: JsonObject): boolean {
  const setting = textAt(settings, 'CAUSEWAY_XDS_TLS');
  if (setting !== '') return setting === 'on';
  if (textAt(settings, 'CAUSEWAY_XDS_TLS_CERT_FILE') !== '') return true;
  const address = textAt(settings, 'CAUSEWAY_XDS_BIND_ADDRESS') || textAt(settings, 'CAUSEWAY_BIND_ADDRESS');
  return !/^(127\.|::1$|localhost$|$)/.test(address);
}

/** Returns the addresses at which the control plane serves proxies, unless `given` names them. */
export function findProxyAddresses(
  context: CommandContext,
  settings: JsonObject,
  given: readonly string[] | undefined,
): readonly ControlPlaneAddress[] {
  if (given && given.length > 0) return given.map(parseAddress);
  const port = Number(settings['CAUSEWAY_XDS_PORT'] ?? 0);
  const { hostname } = resolveConnection(context.config, context.flags()).server;
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  if (port === 0 || host === '') throw new UsageError('name where the control plane serves proxies: --xds HOST:PORT');
  return [{ host, port }];
}

function parseAddress(text: string): ControlPlaneAddress {
  const [, bracketed, plain, port = ''] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535)
    throw new UsageError(`--xds: "${text}" is no address; write it like 10.0.0.1:5678`);
  return { host, port: Number(port) };
}

function describeNode(subject: Subject): { readonly id: string; readonly cluster: string } {
  return subject.type === 'dataplane'
    ? { id: `${subject.mesh}.${subject.name}`, cluster: subject.name }
    : { id: `.${subject.name}`, cluster: subject.type };
}

/** Usual files of the authorities that a host trusts. */
const MACHINE_AUTHORITIES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

interface ProxyFacts extends Pick<BootstrapOptions, 'capture' | 'authoritiesFile'> {
  readonly csr: string;
  readonly keyFile: string;
}

function describeMetadata(subject: Subject, { csr, keyFile, capture, authoritiesFile }: ProxyFacts): JsonObject {
  const authorities =
    authoritiesFile === undefined ? MACHINE_AUTHORITIES.find((file) => existsSync(file)) : existing(authoritiesFile);
  if (subject.type === 'ingress') return { 'dataplane.proxyType': 'ingress' };
  return {
    'causeway.io/csr': csr,
    'causeway.io/key-file': keyFile,
    ...(subject.type === 'egress' ? { 'dataplane.proxyType': 'egress' } : { 'causeway.io/capture': capture }),
    ...(authorities !== undefined && { 'causeway.io/authorities-file': authorities }),
  };
}

function parseConnections(
  { type }: Pick<Subject, 'type'>,
  { maxConnections }: BootstrapOptions,
): { readonly connections?: number } {
  if (maxConnections === undefined) return type === 'dataplane' ? {} : { connections: ZONE_PROXY_CONNECTIONS };
  const connections = Number(maxConnections);
  if (!/^\d{1,9}$/.test(maxConnections) || connections < 1)
    throw new UsageError(`--max-connections: "${maxConnections}" is no number of connections, 1 to 999999999`);
  return { connections };
}

function existing(file: string): string {
  readGiven(file);
  return resolve(file);
}

/** Maximum length of the path of a unix socket that every system accepts. */
const MAX_SOCKET_LENGTH = 103;

function parseAdmin(
  { adminPort }: BootstrapOptions,
  folder: string,
): { readonly path: string } | { readonly address: string; readonly port: number } {
  if (adminPort === undefined) {
    const path = join(folder, 'admin.sock');
    if (path.length <= MAX_SOCKET_LENGTH) return { path };
    throw new UsageError(`the path ${path} is too long for a socket: name --admin-port`);
  }
  if (!/^\d{1,5}$/.test(adminPort) || Number(adminPort) > 65_535)
    throw new UsageError(`--admin-port: "${adminPort}" is no port, 0 to 65535`);
  return { address: '127.0.0.1', port: Number(adminPort) };
}

/** Quotes a word for a shell. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
