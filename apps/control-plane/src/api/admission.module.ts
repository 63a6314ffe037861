import { Module, type DynamicModule } from '@nestjs/common';
import { Admission } from '@causeway/admission';
import { isZoneOnline } from '@causeway/kds';
import { injectionToken, provideFrom } from '@causeway/runtime';
import { POSTGRES_BACKEND } from '@causeway/store-postgres';
import { ACCESS_POLICY } from './access.module';
import { CORE, type ModuleImports } from '../core.module';
import { INDEX, MESHES } from '../state/index.module';
import { LeaderAwareWriter } from '../state/leader-aware-writer';

/** The `Admission` of this replica. */
export const ADMISSION = injectionToken<Admission>('Admission');

const provider = provideFrom(
  ADMISSION,
  {
    core: CORE,
    backend: POSTGRES_BACKEND,
    index: INDEX,
    access: ACCESS_POLICY,
    meshes: MESHES,
    creations: LeaderAwareWriter,
  },
  ({ core, backend: { store, sessions, agentLeases: leases }, ...sources }) =>
    new Admission({
      ...core,
      ...sources,
      controlPlane: core.cp,
      store,
      leases,
      ...(core.cp.role === 'global' && {
        isZoneOnline: (zone: string) => isZoneOnline({ store, sessions, clock: core.clock }, zone),
      }),
    }),
);

/** Provides admission, through which all writes of users go. */
@Module({})
export class AdmissionModule {
  static forRoot({ imports }: ModuleImports): DynamicModule {
    return { module: AdmissionModule, imports, providers: [provider], exports: [ADMISSION] };
  }
}
