import { findCondition, isJsonObject, type JsonObject } from '@causeway/resources';
import { runAsAdmin } from '../../ctl/run-causeway';
import { dataplane, type ProcessMesh } from '../../support/process-mesh';
import type { ProcessPlane } from '../../support/process-plane';
import { until } from '../../support/until';
import { sharedMesh } from './shared-mesh';

const pathOf = (name: string, kind = 'virtualservices'): string => `/meshes/default/${kind}/${name}`;

describe('names at App Mesh that meet by sync', () => {
  let mesh: ProcessMesh;
  beforeAll(async () => {
    mesh = sharedMesh();
    // A namespace has objects of App Mesh where a Mesh selects it.
    const spec = { namespaceSelector: {} };
    expect(await mesh.global.put('/meshes/default', { type: 'Mesh', name: 'default', spec })).toBe(200);
    for (const zone of mesh.zones.values())
      await until('it has the selector', async () =>
        JSON.stringify(await zone.get('/meshes/default')).includes('namespaceSelector'),
      );
  });
  const planes = (): Readonly<Record<string, ProcessPlane>> => ({
    global: mesh.global,
    east: mesh.zone('east'),
    west: mesh.zone('west'),
  });
  const put = (plane: ProcessPlane, name: string, awsName: string): Promise<number> =>
    plane.put(pathOf(name), { type: 'VirtualService', name, spec: { awsName } });
  const accepted = async (plane: ProcessPlane, name: string, zone = ''): Promise<JsonObject | undefined> => {
    const found = await plane.get(`${pathOf(name)}${zone === '' ? '' : `?zone=${zone}`}`);
    const status = found?.['status'];
    return isJsonObject(status) ? findCondition(status, 'Accepted') : undefined;
  };
  const says = (plane: ProcessPlane, name: string, want: string, zone = ''): Promise<unknown> =>
    until(`${name} is accepted: ${want}`, async () => (await accepted(plane, name, zone))?.['status'] === want);
  const isServed = async (plane: ProcessPlane, name: string): Promise<boolean> =>
    (await plane.get(`${pathOf(`vs-${name}`, 'meshservices')}`)) !== undefined;

  it('T003-08 what the global made is refused to a zone that knows it', async () => {
    expect(await put(mesh.global, 'first', 'a.example')).toBe(201);
    await until('east has it', () => mesh.zone('east').get(`${pathOf('first')}?zone=`));
    expect(await put(mesh.zone('east'), 'second', 'a.example')).toBe(409);
  });

  it('T003-08 of two that were made apart the same one wins everywhere, the loser names it, and is promoted when it goes', async () => {
    await mesh.zone('west').stop();
    expect(await put(mesh.global, 'made-on-global', 'b.example')).toBe(201);
    await until('east has it', () => mesh.zone('east').get(`${pathOf('made-on-global')}?zone=`));
    await mesh.global.kill();
    await mesh.bootZone('west');
    expect(await put(mesh.zone('west'), 'made-in-west', 'b.example')).toBe(201);
    await says(mesh.zone('west'), 'made-in-west', 'True');
    await until('west serves its own', () => isServed(mesh.zone('west'), 'made-in-west'));
    await mesh.startGlobal();

    await says(mesh.zone('west'), 'made-in-west', 'False');
    expect(await accepted(mesh.zone('west'), 'made-in-west')).toMatchObject({
      reason: 'AwsNameConflict',
      message: 'awsName "b.example" is held by VirtualService default/made-on-global of the global',
    });
    await until('west serves it no more', async () => !(await isServed(mesh.zone('west'), 'made-in-west')));
    await until('west serves the holder', () => isServed(mesh.zone('west'), 'made-on-global'));
    expect(await isServed(mesh.zone('east'), 'made-on-global')).toBe(true);
    for (const name of ['global', 'east']) {
      const plane = planes()[name];
      if (plane && (await plane.get(`${pathOf('made-in-west')}?zone=west`)))
        await says(plane, 'made-in-west', 'False', 'west');
    }
    expect(await accepted(mesh.global, 'made-on-global')).toMatchObject({ status: 'True' });
    const doctor = await runAsAdmin(mesh.zone('west').restUrl, ['doctor']);
    expect([doctor.code, doctor.out]).toEqual([1, expect.stringContaining('made-in-west')]);

    const before = (await mesh.zone('west').get(pathOf('made-in-west')))?.['status'];
    await mesh.zone('west').kill();
    await mesh.startZone('west');
    await until('west serves the holder', () => isServed(mesh.zone('west'), 'made-on-global'));
    expect((await mesh.zone('west').get(pathOf('made-in-west')))?.['status']).toEqual(before);

    expect(await mesh.global.delete(pathOf('made-on-global'))).toBe(200);
    await says(mesh.zone('west'), 'made-in-west', 'True');
    await until('west serves its own', () => isServed(mesh.zone('west'), 'made-in-west'));
    await until('east serves neither', async () => !(await isServed(mesh.zone('east'), 'made-on-global')));
  });

  it('T003-33 nodes that begin to select one Dataplane are shown by the doctor of the zone', async () => {
    const east = mesh.zone('east');
    const node = (name: string, podSelector: JsonObject): Promise<number> =>
      east.put(pathOf(name, 'virtualnodes'), {
        type: 'VirtualNode',
        name,
        spec: { podSelector, listeners: [{ portMapping: { port: 80, protocol: 'http' } }] },
      });
    expect(await node('one', { matchLabels: { app: 'a' } })).toBe(201);
    const body = { ...dataplane('pod', 'a'), labels: { app: 'a' } };
    expect(await east.put(pathOf('pod', 'dataplanes'), body)).toBe(201);
    expect(await node('all', {})).toBe(201);
    const doctor = await until('the doctor of east shows it', async () => {
      const { out } = await runAsAdmin(east.restUrl, ['doctor']);
      return out.includes('MembershipConflict') && out;
    });
    expect(doctor).toMatch(/VirtualNode \S*all.*other VirtualNodes select these Dataplanes too: pod/);
    expect(await east.put(pathOf('pod-2', 'dataplanes'), { ...body, name: 'pod-2' })).toBe(422);
    for (const name of ['one', 'all']) expect(await east.delete(pathOf(name, 'virtualnodes'))).toBe(200);
  });

  it('what two zones made does not meet: each serves its own', async () => {
    for (const zone of ['east', 'west']) {
      const status = await put(mesh.zone(zone), `of-${zone}`, 'c.example');
      // The second is refused where its zone knows the first already.
      expect([201, 409]).toContain(status);
      if (status === 201) await until(`${zone} serves it`, () => isServed(mesh.zone(zone), `of-${zone}`));
    }
  });
});
