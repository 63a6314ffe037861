import { createMeshLoops } from '@causeway/controllers';
import { type ControlLoop } from '@causeway/loops';
import { supportedFeatures, type Meshes } from '@causeway/meshes';
import type { ControlPlaneCore } from '../core.module';
import type { StoreBinding } from '../state/index.module';
import { VERSION } from '../version';

/** Creates the control loops of Meshes for one term; their warnings go to the log. */
export function meshLoops(
  { cp, logger }: Pick<ControlPlaneCore, 'cp' | 'logger'>,
  meshes: Meshes,
  { storeId }: Pick<StoreBinding, 'storeId'>,
): readonly ControlLoop[] {
  return createMeshLoops({
    cp,
    meshes,
    features: supportedFeatures(),
    acceptor: { controlPlane: cp, version: VERSION, storeId },
    onMismatch: ({ name, controllerName, ownName }) =>
      logger.warn(
        'the expected Mesh belongs to another controller: it is left alone, its members are served with defaults',
        {
          mesh: name,
          controllerName,
          expected: ownName,
        },
      ),
    onRefused: (mesh, reason) =>
      logger.warn('the expected Mesh could not be created: its members are served as if it existed', { mesh, reason }),
  });
}
