import { Inject, Module, type DynamicModule, type OnApplicationShutdown } from '@nestjs/common';
import { AuditRecorder } from '@causeway/access';
import { POSTGRES_BACKEND, type PostgresBackend } from '@causeway/store-postgres';
import { CORE, type ControlPlaneCore, type ModuleImports } from './core.module';

/** The `AuditRecorder` of this replica, which all interfaces share. */
export const AUDIT_RECORDER = Symbol('AuditRecorder');

/** Provides the recorder of activities and refusals; it stores queued entries after the interfaces have ended. */
@Module({})
export class AuditModule implements OnApplicationShutdown {
  constructor(@Inject(AUDIT_RECORDER) private readonly recorder: AuditRecorder) {}

  static forRoot({ imports }: ModuleImports): DynamicModule {
    const useFactory = ({ clock, logger }: ControlPlaneCore, { audit }: PostgresBackend) =>
      new AuditRecorder({ log: audit, clock, logger });
    return {
      module: AuditModule,
      imports,
      providers: [{ provide: AUDIT_RECORDER, inject: [CORE, POSTGRES_BACKEND], useFactory }],
      exports: [AUDIT_RECORDER],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.recorder.close();
  }
}
