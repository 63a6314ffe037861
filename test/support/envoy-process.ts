import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from './until';

/** The Envoy that tests run: CAUSEWAY_ENVOY, which .ci/run and `npm test` set by test/envoy/install.sh. */
export const ENVOY = process.env['CAUSEWAY_ENVOY'];

export interface EnvoyOptions {
  /** Node id. */
  readonly id: string;
  /** Port of the control plane. */
  readonly xdsPort: number;
  /** A control plane that is reached by TLS: the authority that is believed. */
  readonly ca?: string;
}

/** A real Envoy that asks our server for everything. Admin on a loopback port of its own choice. */
export class EnvoyProcess {
  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
    private readonly admin: number,
  ) {}

  /** Starts one with a bootstrap of ours, by delta ADS. */
  static async start(program: string, options: EnvoyOptions): Promise<EnvoyProcess> {
    const folder = mkdtempSync(join(tmpdir(), 'causeway-envoy-'));
    writeFileSync(join(folder, 'envoy.json'), JSON.stringify(bootstrap(options)));
    return EnvoyProcess.run(program, join(folder, 'envoy.json'), folder);
  }

  /** Starts one with the bootstrap in a file. `folder` is its own, and goes when it is stopped. */
  static async run(program: string, bootstrapFile: string, folder: string): Promise<EnvoyProcess> {
    const adminFile = join(folder, 'admin');
    const admin = JSON.stringify({ admin: { address: { socket_address: { address: '127.0.0.1', port_value: 0 } } } });
    const files = ['-c', bootstrapFile, '--config-yaml', admin, '--admin-address-path', adminFile];
    const args = [...files, '--concurrency', '1'];
    const more = ['--disable-hot-restart', '--log-level', 'warn', '--drain-time-s', '1'];
    const child = spawn(program, [...args, ...more], { stdio: ['ignore', 'ignore', 'pipe'] });
    let log = '';
    child.stderr?.on('data', (text: Buffer) => (log = `${log}${text.toString()}`.slice(-4_000)));
    const port = await until('the port of Envoy', () => {
      if (child.exitCode !== null) throw new Error(`Envoy has ended: ${log}`);
      try {
        return /:([1-9]\d*)$/.exec(readFileSync(adminFile, 'utf8').trim())?.[1];
      } catch {
        return undefined;
      }
    });
    return new EnvoyProcess(child, folder, Number(port));
  }

  /** Returns one of Envoy's counters or gauges; 0 if there is none. */
  async stat(name: string): Promise<number> {
    const text = await this.ask(`/stats?filter=^${name.replaceAll('.', '\\.')}$`);
    return Number(/: (\d+)/.exec(text)?.[1] ?? 0);
  }

  /** Returns its counters and gauges whose names match, without unused ones. */
  async stats(filter: RegExp): Promise<Readonly<Record<string, number>>> {
    const text = await this.ask(`/stats?usedonly&filter=${encodeURIComponent(filter.source)}`);
    return Object.fromEntries([...text.matchAll(/^(.+): (\d+)$/gm)].map(([, name, value]) => [name, Number(value)]));
  }

  /** The sum of those whose names match. */
  async sum(filter: RegExp): Promise<number> {
    return Object.values(await this.stats(filter)).reduce((sum, value) => sum + value, 0);
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  ask(path: string): Promise<string> {
    return new Promise((resolve, reject) => {
      get({ host: '127.0.0.1', port: this.admin, path }, (answer) => {
        let text = '';
        answer.on('data', (part: Buffer) => (text += part.toString()));
        answer.on('end', () => resolve(text));
      }).on('error', reject);
    });
  }

  /** Kills it, if it still runs. */
  async stop(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const over = once(this.child, 'exit');
      this.child.kill('SIGKILL');
      await over;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function bootstrap({ id, xdsPort, ca }: EnvoyOptions): object {
  const at = (port: number): object => ({ socket_address: { address: '127.0.0.1', port_value: port } });
  const http2 = { explicit_http_config: { http2_protocol_options: {} } };
  const tls = {
    '@type': 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext',
    common_tls_context: { validation_context: { trusted_ca: { inline_string: ca } } },
  };
  const ads = { ads: {}, resource_api_version: 'V3', initial_fetch_timeout: '2s' };
  return {
    node: { id, cluster: 'test' },
    admin: { address: at(0) },
    // As in the bootstraps of control planes and agents: routes may have long regular expressions.
    layered_runtime: {
      layers: [{ name: 'causeway', static_layer: { 're2.max_program_size.error_level': 1_000_000 } }],
    },
    dynamic_resources: {
      ads_config: {
        api_type: 'DELTA_GRPC',
        transport_api_version: 'V3',
        set_node_on_first_message_only: true,
        grpc_services: [{ envoy_grpc: { cluster_name: 'ads' } }],
      },
      cds_config: ads,
      lds_config: ads,
    },
    static_resources: {
      clusters: [
        {
          name: 'ads',
          type: 'STATIC',
          connect_timeout: '1s',
          typed_extension_protocol_options: {
            'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
              '@type': 'type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
              ...http2,
            },
          },
          load_assignment: {
            cluster_name: 'ads',
            endpoints: [{ lb_endpoints: [{ endpoint: { address: at(xdsPort) } }] }],
          },
          ...(ca !== undefined && { transport_socket: { name: 'tls', typed_config: tls } }),
        },
      ],
    },
  };
}
