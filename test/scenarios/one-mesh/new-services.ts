import { get } from 'node:http';
import { ADMIN_HEADERS, adminFetch } from '../../support/admin-credential';
import type { ProcessPlane } from '../../support/process-plane';
import { until } from '../../support/until';
import { sharedMesh } from './shared-mesh';

/** A MeshService as a watch shows it. */
interface ShownService {
  readonly name: string;
  readonly spec: { readonly state?: string };
  readonly status?: { readonly vip?: unknown; readonly addresses?: readonly { readonly status: string }[] };
}

/** The versions of services that a control plane shows from now on, by a watch. */
class Versions {
  readonly shown: ShownService[] = [];
  private end = (): void => undefined;

  static async open(plane: ProcessPlane): Promise<Versions> {
    const versions = new Versions();
    const services = `${plane.restUrl}/meshes/default/meshservices`;
    const since = (await adminFetch(`${services}?size=1`)).headers.get('causeway-revision') ?? '0';
    await new Promise<void>((resolve, reject) => {
      const call = get(`${services}?watch=true&since=${since}`, { headers: ADMIN_HEADERS }, (answer) => {
        answer.setEncoding('utf8').on('data', (text: string) => versions.take(text));
        resolve();
      });
      versions.end = () => void call.on('error', () => undefined).destroy();
      call.on('error', reject);
    });
    return versions;
  }

  close(): void {
    this.end();
  }

  /** Resolves with the first version of a service. */
  first(name: string): Promise<ShownService> {
    return until(`${name} is shown`, () => this.shown.find((service) => service.name === name));
  }

  private rest = '';

  private take(text: string): void {
    const lines = (this.rest + text).split('\n');
    this.rest = lines.pop() ?? '';
    for (const line of lines)
      if (line.startsWith('data:')) this.shown.push(JSON.parse(line.slice('data:'.length)) as ShownService);
  }
}

/** docs/adr/0040-one-write-a-creation.md, as the programs are composed. */
describe('a new MeshService', () => {
  const selector = { dataplaneTags: { 'kuma.io/service': 'new' } };
  const service = (name: string) => ({
    type: 'MeshService',
    mesh: 'default',
    name,
    spec: { selector, ports: [{ port: 80 }] },
  });
  const put = (name: string): Promise<number> =>
    sharedMesh().zone('east').put(`/meshes/default/meshservices/${name}`, service(name));

  it('has its availability, its address and its names in the first version, in each zone', async () => {
    const mesh = sharedMesh();
    const [east, west] = [await Versions.open(mesh.zone('east')), await Versions.open(mesh.zone('west'))];
    // The first selector by this tag is read by the loop.
    expect(await put('new-0')).toBe(201);
    await until('it is counted', () =>
      east.shown.some(({ name, spec }) => name === 'new-0' && spec.state !== undefined),
    );
    expect(await put('new-1')).toBe(201);
    for (const versions of [east, west]) {
      const { spec, status } = await versions.first('new-1');
      expect(spec.state).toBe('Unavailable');
      expect(status?.vip).toMatchObject({ type: 'Kuma' });
      expect(status?.addresses?.map((address) => address.status)).toContain('Available');
    }
    for (const versions of [east, west]) versions.close();
  });
});
