import { renameSync } from 'node:fs';
import { isIP } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ApiError, signWorkloadCertificate, type CertificateOrder, type SignedWorkload } from '@causeway/api-client';
import { createCsr, createWorkloadKey } from '@causeway/identity';
import { isJsonArray, isJsonObject, type JsonObject } from '@causeway/resources';
import { Backoff, errorText } from '@causeway/runtime';
import type { ControlPlaneAddress } from '@causeway/xds-translation';
import { UsageError, type CommandContext } from '../../context';
import { objectAt, textAt } from '../../render';
import { readGiven, writeOwn } from './local-files';

const FILES = {
  bootstrap: 'grpc.json',
  key: 'key.pem',
  certificate: 'certificate.pem',
  authorities: 'authorities.pem',
  controlPlane: 'control-plane.pem',
} as const;
/** The certificate provider that the clusters of a zone name (docs/reference/xds-translation.md, gRPC). */
const PROVIDER = 'mesh';
const REFRESH = '10s';
/** Backoff of attempts to renew, ms. */
const RETRY = { base: 1_000, cap: 60_000 };

/** Settings of a program that uses gRPC without a proxy. */
export interface GrpcStart {
  readonly mesh: string;
  readonly name: string;
  /** The zone of the control planes. */
  readonly zone: string;
  readonly token: string;
  readonly controlPlanes: readonly ControlPlaneAddress[];
  /** PEM; absent: plaintext. */
  readonly authority?: string;
  readonly folder: string;
}

/**
 * Writes a new key, the certificate that a control plane signs for it, the authorities of the mesh and the bootstrap of a gRPC program. Prints the
 * setting by which the program finds them.
 */
export async function writeGrpcFiles(context: CommandContext, start: GrpcStart): Promise<number> {
  const { mesh, name, zone, token, folder, authority, controlPlanes } = start;
  const path = (file: keyof typeof FILES): string => join(folder, FILES[file]);
  const { privateKey } = await createWorkloadKey();
  const creds = authority === undefined ? { type: 'insecure' } : tlsCredentials(path('controlPlane'));
  const bootstrap = {
    xds_servers: controlPlanes.map((at) => ({
      server_uri: formatAddress(at),
      channel_creds: [creds],
      server_features: ['xds_v3'],
    })),
    node: {
      id: `${mesh}.${name}`,
      cluster: name,
      locality: { zone },
      metadata: { 'causeway.io/token': token },
    },
    server_listener_resource_name_template: 'grpc/server?xds.resource.listening_address=%s',
    certificate_providers: {
      [PROVIDER]: {
        plugin_name: 'file_watcher',
        config: {
          certificate_file: path('certificate'),
          private_key_file: path('key'),
          ca_certificate_file: path('authorities'),
          refresh_interval: REFRESH,
        },
      },
    },
  };
  if (authority !== undefined) writeOwn(path('controlPlane'), authority);
  writeOwn(path('key'), privateKey);
  writeOwn(path('bootstrap'), `${JSON.stringify(bootstrap, null, 2)}\n`);
  await renew(folder);
  if (authority !== undefined)
    context.printError(
      'grpc-js speaks plain text to control planes only: it does not take this bootstrap, other languages do',
    );
  context.print(`GRPC_XDS_BOOTSTRAP=${path('bootstrap')}`);
  return 0;
}

function tlsCredentials(file: string): JsonObject {
  return { type: 'tls', config: { ca_certificate_file: file } };
}

/** Options of `causeway proxies renew`. */
export interface RenewOptions {
  readonly dir: string;
  readonly watch?: boolean;
}

/** `causeway proxies renew`: a new certificate and the current authorities, once, or whenever due until Ctrl-C. */
export async function renewGrpcFiles(context: CommandContext, { dir, watch }: RenewOptions): Promise<number> {
  const folder = resolve(dir);
  const backoff = new Backoff(RETRY);
  for (;;) {
    let wait: number;
    try {
      const { spiffeId, notAfter, renewAt } = await renew(folder);
      backoff.reset();
      const [end, next] = [notAfter, renewAt].map((at) => new Date(at).toISOString());
      context.print(`${spiffeId} until ${end}, to be renewed from ${next}`);
      wait = Math.max(1_000, renewAt - context.now());
    } catch (error) {
      if (watch !== true || error instanceof UsageError) throw error;
      context.printError(errorText(error));
      wait = backoff.next();
    }
    if (watch !== true) return 0;
    const isOver = await pause(wait, false, { signal: context.signal }).catch(() => true);
    if (isOver) return 0;
  }
}

/** Requests a certificate for the key of a folder from the control planes in its bootstrap, one after the other, and writes the response. */
async function renew(folder: string): Promise<SignedWorkload> {
  const { mesh, dataplane, token, servers } = readFolder(folder);
  const csr = await createCsr(readGiven(join(folder, FILES.key)));
  const failures: string[] = [];
  let code: ApiError['code'] = 'unavailable';
  for (const server of servers) {
    const order = { ...server, mesh, dataplane, token, csr };
    const answer = await signWorkloadCertificate(order).catch((error: unknown) => apiErrorIn(error));
    if (answer instanceof ApiError) {
      failures.push(`${server.address}: ${answer.message}`);
      code = answer.code;
      if (code === 'unavailable') continue;
      break;
    }
    // A program may read the files at any moment: each is replaced atomically.
    replace(join(folder, FILES.authorities), answer.trustBundles.map(({ certificates }) => certificates).join(''));
    replace(join(folder, FILES.certificate), answer.certificateChain);
    return answer;
  }
  throw new ApiError(code, `no certificate: ${failures.join('; ')}`);
}

function apiErrorIn(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  throw error;
}

type Folder = Pick<CertificateOrder, 'mesh' | 'dataplane' | 'token'> & {
  readonly servers: readonly Pick<CertificateOrder, 'address' | 'ca'>[];
};

function readFolder(folder: string): Folder {
  const file = join(folder, FILES.bootstrap);
  const bootstrap = parsed(file);
  const node = objectAt(bootstrap, 'node');
  const [, mesh = '', dataplane = ''] = /^([^.]+)\.(.+)$/.exec(textAt(node, 'id')) ?? [];
  const { xds_servers: servers } = bootstrap;
  const found = (isJsonArray(servers) ? servers : []).flatMap((server) => {
    if (!isJsonObject(server)) return [];
    const [creds] = isJsonArray(server['channel_creds']) ? server['channel_creds'] : [];
    const isTls = isJsonObject(creds) && creds['type'] === 'tls';
    const address = textAt(server, 'server_uri');
    return [{ address, ...(isTls && { ca: readGiven(join(folder, FILES.controlPlane)) }) }];
  });
  if (mesh === '' || found.length === 0)
    throw new UsageError(`${file} is no bootstrap of causeway proxies bootstrap --grpc`);
  return { mesh, dataplane, token: textAt(objectAt(node, 'metadata'), 'causeway.io/token'), servers: found };
}

function parsed(file: string): JsonObject {
  try {
    const value: unknown = JSON.parse(readGiven(file));
    return isJsonObject(value) ? value : {};
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    throw new UsageError(`${file}: ${errorText(cause)}`, { cause });
  }
}

function formatAddress({ host, port }: ControlPlaneAddress): string {
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
}

function replace(file: string, text: string): void {
  writeOwn(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}
