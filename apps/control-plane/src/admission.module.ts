import { Module, type DynamicModule } from '@nestjs/common';
import { Admission } from '@causeway/admission';
import type { IndexReader } from '@causeway/store';
import { POSTGRES_BACKEND, type PostgresBackend } from '@causeway/store-postgres';
import { CORE, type ControlPlaneCore, type ModuleImports } from './core.module';
import { INDEX } from './index.module';

/** The `Admission` of this replica. */
export const ADMISSION = Symbol('Admission');

/** The only way in for what users write. */
@Module({})
export class AdmissionModule {
  static forRoot({ imports }: ModuleImports): DynamicModule {
    const useFactory = (
      { cp, registry, clock, settings }: ControlPlaneCore,
      backend: PostgresBackend,
      index: IndexReader,
    ) =>
      new Admission({
        registry,
        store: backend.store,
        index,
        controlPlane: cp,
        clock,
        operatorToken: settings.CAUSEWAY_OPERATOR_TOKEN !== undefined,
      });
    return {
      module: AdmissionModule,
      imports,
      providers: [{ provide: ADMISSION, inject: [CORE, POSTGRES_BACKEND, INDEX], useFactory }],
      exports: [ADMISSION],
    };
  }
}
