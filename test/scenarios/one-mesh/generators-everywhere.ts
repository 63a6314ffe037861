import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { runAsAdmin } from '../../ctl/run-causeway';
import type { ProcessMesh } from '../../support/process-mesh';
import type { ProcessPlane } from '../../support/process-plane';
import { until } from '../../support/until';
import { sharedMesh } from './shared-mesh';
import { adminFetch } from '../../support/admin-credential';

const SEED = resolve(__dirname, '..', '..', '..', 'examples', 'seed-001');
const DEFAULT_ON_GLOBAL = '/hostnamegenerators/synced-universal-mesh-service';
const DEFAULT_IN_EAST = '/hostnamegenerators/local-mesh-external-service';

interface Body {
  readonly labels?: Readonly<Record<string, string>>;
  readonly status?: {
    readonly addresses?: readonly { readonly hostname?: string; readonly status: string; readonly reason?: string }[];
  };
}

const generator = (name: string, template: string) => ({
  type: 'HostnameGenerator',
  name,
  spec: { selector: { meshService: {} }, template },
});

describe('generators of the global and of a zone, as processes', () => {
  let mesh: ProcessMesh;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'causeway-generators-'));
    mesh = sharedMesh();
    expect(await mesh.zone('east').put('/meshes/default/meshservices/redis', redis)).toBe(201);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const redis = { type: 'MeshService', mesh: 'default', name: 'redis', spec: { ports: [{ port: 6379 }] } };
  const body = (plane: ProcessPlane, path: string): Promise<Body | undefined> => plane.get(path);

  /** The hostnames that redis of east has on a control plane. */
  async function names(plane: ProcessPlane): Promise<readonly string[]> {
    const service = await body(plane, '/meshes/default/meshservices/redis?zone=east');
    const available = service?.status?.addresses?.filter(({ status }) => status === 'Available') ?? [];
    return available.flatMap(({ hostname }) => hostname ?? []);
  }

  const named = (plane: ProcessPlane, ...want: readonly string[]): Promise<true> =>
    until(`redis is named ${want.join()} on ${plane.name}`, async () => {
      const have = await names(plane);
      return have.length === want.length && want.every((name) => have.includes(name)) && true;
    });

  it('T001-13: one of the global counts in every zone, one of a zone in that zone only; the global shows it', async () => {
    const [global, east, west] = [mesh.global, mesh.zone('east'), mesh.zone('west')];
    expect(await global.put('/hostnamegenerators/all', generator('all', '{{ name }}.all.mesh'))).toBe(201);
    expect(await east.put('/hostnamegenerators/own', generator('own', '{{ name }}.own.mesh'))).toBe(201);
    await named(east, 'redis.svc.mesh.local', 'redis.own.mesh', 'redis.all.mesh');
    await named(west, 'redis.svc.east.mesh.local', 'redis.all.mesh');
    for (const zone of [east, west]) {
      const copy = await body(zone, '/hostnamegenerators/all?zone=');
      expect(copy?.labels).toMatchObject({ 'kuma.io/origin': 'global' });
    }
    const shown = await until('the global shows it', () => body(global, '/hostnamegenerators/own?zone=east'));
    expect(shown.labels).toMatchObject({ 'kuma.io/origin': 'zone', 'kuma.io/zone': 'east' });
    expect(await body(west, '/hostnamegenerators/own?zone=east')).toBeUndefined();
  });

  it('T001-20: a default that the operator deleted stays deleted after every restart, and so do its names', async () => {
    const [global, east, west] = [mesh.global, mesh.zone('east'), mesh.zone('west')];
    const copy = `${DEFAULT_ON_GLOBAL}?zone=`; // a plain name means a resource that the zone itself made
    expect(await body(west, copy)).toBeDefined();
    expect(await global.delete(DEFAULT_ON_GLOBAL)).toBe(200);
    expect(await east.delete(DEFAULT_IN_EAST)).toBe(200);
    await named(west, 'redis.all.mesh');
    await Promise.all([global.stop(), east.stop()]);
    await mesh.startGlobal();
    await mesh.startZone('east');
    // A default that came back would come before this one, which is written later.
    expect(await mesh.global.put('/hostnamegenerators/late', generator('late', '{{ name }}.late.mesh'))).toBe(201);
    await named(west, 'redis.all.mesh', 'redis.late.mesh');
    await named(mesh.zone('east'), 'redis.svc.mesh.local', 'redis.own.mesh', 'redis.all.mesh', 'redis.late.mesh');
    expect(await body(mesh.global, DEFAULT_ON_GLOBAL)).toBeUndefined();
    expect(await body(west, copy)).toBeUndefined();
    expect(await body(mesh.zone('east'), DEFAULT_IN_EAST)).toBeUndefined();
    expect(await body(mesh.zone('east'), '/hostnamegenerators/local-universal-mesh-service')).toBeDefined();
  });

  it('T001-14 T001-16: the seed’s own files, put into east with the CLI, give the seed’s hostname', async () => {
    const { restUrl } = mesh.zone('east');
    const applied = await runAsAdmin(restUrl, ['apply', '-f', SEED]);
    expect(applied).toMatchObject({ code: 0 });
    expect(applied.out).toBe('HostnameGenerator k8s-zone-hostnames created\nMeshService redis.demo-app created\n');
    const explained = await until('the hostname is explained', async () => {
      const { out } = await runAsAdmin(restUrl, ['explain', 'redis.demo-app.svc.mesh.east']);
      return out.includes('Available') && out;
    });
    expect(explained).toContain('MeshService east/demo-app/redis.demo-app');
    const shown = await body(mesh.zone('east'), '/meshes/default/meshservices/redis.demo-app?namespace=demo-app');
    expect(shown?.status?.addresses).toContainEqual({
      hostname: 'redis.demo-app.svc.mesh.east',
      status: 'Available',
      origin: { kind: 'HostnameGenerator', name: 'k8s-zone-hostnames' },
    });
  });

  it('the template without quotes is refused, by the CLI and by the server, with line, column and how to write it', async () => {
    const unquoted = readFileSync(join(SEED, 'hostname-generator.yaml'), 'utf8').replace(
      /template: '(.*)'/,
      'template: $1',
    );
    const line = unquoted.split('\n').findIndex((text) => text.includes('template: {{')) + 1;
    const file = join(folder, 'unquoted.yaml');
    writeFileSync(file, unquoted);
    const { restUrl } = mesh.zone('east');
    const { code, err } = await runAsAdmin(restUrl, ['apply', '-f', file]);
    expect(code).not.toBe(0);
    expect(err).toContain(`line ${line}, column 13: a template must be in quotes`);
    const answer = await adminFetch(`${restUrl}/hostnamegenerators/k8s-zone-hostnames`, {
      method: 'PUT',
      headers: { 'content-type': 'application/yaml' },
      body: unquoted,
    });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain(`line ${line}, column 13: a template must be in quotes`);
  });
});
