import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText, type Clock, type Logger } from '@causeway/runtime';
import { RESOURCE_TYPES } from '@causeway/xds-server';
import { decodeSecret } from '../builtin/decode/secrets';
import type { TextSource } from '../builtin/decode/tls-settings';
import type { LocalXdsServer } from '../envoy/local-xds-server';
import { IDENTITY_SECRET, TRUST_SECRET } from '../identity/workload-key-file';
import type { Plane, PlaneState } from '../plane';
import type { CacheChange, ResourceReader } from '../resources/resource-reader';

export interface GrpcPlaneOptions {
  /** Node id and cluster of its Dataplane. */
  readonly id: string;
  readonly cluster: string;
  /** Folder of this Dataplane only. */
  readonly folder: string;
  /** Private key of the workload, PEM, in the folder. */
  readonly keyFile: string;
  readonly zone: string | undefined;
  readonly cache: ResourceReader;
  readonly xds: LocalXdsServer;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Certificate provider that the zone's clusters refer to (docs/reference/xds-translation.md, gRPC). */
const PROVIDER = 'mesh';
const REFRESH_INTERVAL = '10s';
const FILES = { bootstrap: 'grpc.json', certificate: 'certificate.pem', authorities: 'authorities.pem' } as const;

/**
 * Mode without a proxy: programs of this machine use gRPC's own xDS support. The local xDS server sends them the
 * resources that the agent received; their certificate and the authorities of the mesh are in files that are replaced
 * when those change. Several programs may belong to one Dataplane.
 */
export class GrpcPlane implements Plane {
  readonly type = 'grpc';
  private current: PlaneState;
  private writing: Promise<void> = Promise.resolve();

  constructor(private readonly options: GrpcPlaneOptions) {
    this.current = { type: 'starting', since: options.clock.now(), reason: 'the zone has signed no certificate yet' };
  }

  get state(): PlaneState {
    return this.current;
  }

  async start(): Promise<void> {
    const { id, cache, xds, folder } = this.options;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await this.replace('bootstrap', `${JSON.stringify(this.bootstrap(), null, 2)}\n`);
    await this.writeSecrets();
    xds.serve(id, cache, { leaves: true });
  }

  /** Resolves at once while no program is connected: the next one starts with the current content of the cache. */
  async take(change: CacheChange): Promise<string | undefined> {
    const { id, xds } = this.options;
    if (change.type !== RESOURCE_TYPES.secret)
      return xds.isConnected(id) ? xds.waitForAck(id, change) : Promise.resolve(undefined);
    this.writing = this.writing.then(() => this.writeSecrets());
    await this.writing;
    return this.current.type === 'failed' ? this.current.reason : undefined;
  }

  /** Programs keep their configuration, and connect to the next run. */
  async stop(): Promise<void> {
    await this.writing;
    this.options.xds.forget(this.options.id);
    this.become('stopped');
  }

  private bootstrap(): object {
    const { id, cluster, zone, xds, folder, keyFile } = this.options;
    return {
      xds_servers: [
        { server_uri: `unix:${xds.path}`, channel_creds: [{ type: 'insecure' }], server_features: ['xds_v3'] },
      ],
      node: { id, cluster, ...(zone !== undefined && { locality: { zone } }) },
      server_listener_resource_name_template: 'grpc/server?xds.resource.listening_address=%s',
      certificate_providers: {
        [PROVIDER]: {
          plugin_name: 'file_watcher',
          config: {
            certificate_file: join(folder, FILES.certificate),
            private_key_file: keyFile,
            ca_certificate_file: join(folder, FILES.authorities),
            refresh_interval: REFRESH_INTERVAL,
          },
        },
      },
    };
  }

  /** gRPC programs trust each authority for every id of the mesh. */
  private async writeSecrets(): Promise<void> {
    try {
      const [identity, trust] = [this.secret(IDENTITY_SECRET), this.secret(TRUST_SECRET)];
      if (identity?.type !== 'certificate' || trust?.type !== 'trust') return;
      await this.replace('authorities', [...trust.domains.values()].map(inline).join(''));
      await this.replace('certificate', inline(identity.chain));
      if (this.current.type !== 'serving') this.become('serving');
    } catch (error) {
      this.options.logger.error('the files of gRPC programs cannot be written', { reason: errorText(error) });
      this.become('failed', errorText(error));
    }
  }

  private secret(name: string): ReturnType<typeof decodeSecret> | undefined {
    const found = this.options.cache.get(RESOURCE_TYPES.secret, name);
    return found === undefined || found === 'pending' ? undefined : decodeSecret(found.bytes);
  }

  /** Replaces the file atomically: a program may read it at any moment. */
  private async replace(file: keyof typeof FILES, text: string): Promise<void> {
    const path = join(this.options.folder, FILES[file]);
    await writeFile(`${path}.new`, text, { mode: 0o600 });
    await rename(`${path}.new`, path);
  }

  private become(type: PlaneState['type'], reason?: string): void {
    this.current = { type, since: this.options.clock.now(), ...(reason !== undefined && { reason }) };
  }
}

function inline(source: TextSource): string {
  if ('text' in source) return `${source.text.trimEnd()}\n`;
  throw new Error(`a certificate must be in the message, not in the file ${source.path}`);
}
