import { Agent, request } from 'node:http';
import { dataplane } from '../../test/support/process-mesh';
import type { ProcessPlane } from '../../test/support/process-plane';
import { ADMIN_HEADERS } from '../../test/support/admin-credential';

/** One write of a bench, and the service that another zone then has. */
export interface ServiceWrite {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly service: string;
  /** First port of the service: later versions of one have higher ones. */
  readonly port: number;
}

/** Number of services that `update` changes in turn. */
export const UPDATED = 1_000;

/** The n-th write of a series: a new Dataplane with its service; a new service; or one service that is changed again and again. */
export const WRITES: Readonly<Record<string, (series: string, n: number) => ServiceWrite>> = {
  dataplane: (series, n) => {
    const service = `${series}-${n}`;
    const body = dataplane(`${service}-1`, service);
    return { path: `/meshes/default/dataplanes/${service}-1`, body, service, port: 8080 };
  },
  service: (series, n) => meshService(`${series}-${n}`, 80),
  update: (series, n) => meshService(`${series}-${n % UPDATED}`, 1_000 + Math.floor(n / UPDATED)),
};

function meshService(service: string, port: number): ServiceWrite {
  const spec = { selector: { dataplaneTags: { 'kuma.io/service': service } }, ports: [{ port, appProtocol: 'tcp' }] };
  const body = { type: 'MeshService', mesh: 'default', name: service, spec };
  return { path: `/meshes/default/meshservices/${service}`, body, service, port };
}

/** Writes to one control plane over connections that are kept. */
export class RestWriter {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 64 });

  constructor(private readonly plane: Pick<ProcessPlane, 'restUrl'>) {}

  /** Resolves when the write is answered with success; rejects otherwise. */
  put({ path, body }: ServiceWrite): Promise<void> {
    const headers = { ...ADMIN_HEADERS, 'content-type': 'application/json' };
    return new Promise((resolve, reject) => {
      const call = request(this.plane.restUrl + path, { method: 'PUT', agent: this.agent, headers }, (answer) => {
        const { statusCode = 0 } = answer;
        answer.resume().on('end', () => {
          if (statusCode === 200 || statusCode === 201) resolve();
          else reject(new Error(`the PUT of ${path} was answered ${statusCode}`));
        });
      });
      call.on('error', reject).end(JSON.stringify(body));
    });
  }

  close(): void {
    this.agent.destroy();
  }
}
