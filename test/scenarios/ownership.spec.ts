import { readVersions, recordVersions } from '../support/row-versions';
import { LyingZone } from './lying-zone';
import { ReplicaWorld, SPEC } from './replica-world';

it("I6: what a zone says of another's services is stored under its own name, and touches nothing of the other's", async () => {
  const world = new ReplicaWorld();
  const global = await world.global();
  const [east, west] = [await world.zone('east'), await world.zone('west')];
  await global.put('Mesh', 'default', {});
  await Promise.all([east.join(global), west.join(global)]);
  await west.put('MeshService', 'web', SPEC);
  const id = west.id('MeshService', 'web');
  const theirs = await global.holds(id);
  await east.holds(id);
  for (const home of ['global', 'east', 'west']) await recordVersions(world.homes.url(home));

  const liar = new LyingZone('liar', global.port);
  await liar.join();
  await liar.claim(theirs);
  await east.holds({ ...id, zone: 'liar' }, ({ spec, labels }) => {
    return spec['state'] === 'Unavailable' && labels['kuma.io/zone'] === 'liar';
  });
  await liar.remove(theirs);
  await Promise.all([global, east].map((plane) => plane.holds(id)));
  for (const home of ['global', 'east', 'west']) {
    const versions = await readVersions(world.homes.url(home), 'MeshService');
    expect(versions.filter(({ zone }) => zone === 'west')).toEqual([]);
  }
  liar.leave();
  await world.close();
});
