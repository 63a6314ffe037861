import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ProcessMesh } from '../../support/process-mesh';

let mesh: ProcessMesh | undefined;
let folder = '';

/** The global and the zones east and west, which all scenarios of this folder use one after the other. */
export function sharedMesh(): ProcessMesh {
  if (!mesh) throw new Error('the mesh has not started');
  return mesh;
}

/** Files with the zone tokens: that of east alone, that of west among its settings. */
export const tokenFiles = (): Readonly<Record<'east' | 'west', string>> => ({
  east: join(folder, 'east.token'),
  west: join(folder, 'west.yaml'),
});

/** Starts it, with zones that read their tokens from files. */
export async function startSharedMesh(): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), 'causeway-tokens-'));
  mesh = new ProcessMesh();
  await mesh.startGlobal();
  const { east, west } = tokenFiles();
  writeFileSync(east, await mesh.zoneToken('east'));
  writeFileSync(west, `zoneToken: ${await mesh.zoneToken('west')}\n`);
  const noToken = { CAUSEWAY_ZONE_TOKEN: '' };
  await Promise.all([
    mesh.startZone('east', { ...noToken, CAUSEWAY_ZONE_TOKEN_FILE: east }),
    mesh.startZone('west', { ...noToken, CAUSEWAY_CONFIG: west }),
  ]);
}

export async function stopSharedMesh(): Promise<void> {
  await mesh?.stop();
  rmSync(folder, { recursive: true, force: true });
}
