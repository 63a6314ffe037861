import { Module, type DynamicModule } from '@nestjs/common';
import type { AccessPolicy } from '@causeway/access';
import { Admission } from '@causeway/admission';
import type { Meshes } from '@causeway/meshes';
import type { IndexReader } from '@causeway/store';
import { POSTGRES_BACKEND, type PostgresBackend } from '@causeway/store-postgres';
import { ACCESS_POLICY } from './access.module';
import { CORE, type ControlPlaneCore, type ModuleImports } from './core.module';
import { INDEX, MESHES } from './index.module';

/** The `Admission` of this replica. */
export const ADMISSION = Symbol('Admission');

type AdmissionSources = [
  core: ControlPlaneCore,
  backend: PostgresBackend,
  index: IndexReader,
  access: AccessPolicy,
  meshes: Meshes,
];

/** The only way in for what users write. */
@Module({})
export class AdmissionModule {
  static forRoot({ imports }: ModuleImports): DynamicModule {
    const useFactory = (...[core, { store, agentLeases }, index, access, meshes]: AdmissionSources) =>
      new Admission({ ...core, controlPlane: core.cp, store, index, meshes, access, leases: agentLeases });
    return {
      module: AdmissionModule,
      imports,
      providers: [{ provide: ADMISSION, inject: [CORE, POSTGRES_BACKEND, INDEX, ACCESS_POLICY, MESHES], useFactory }],
      exports: [ADMISSION],
    };
  }
}
