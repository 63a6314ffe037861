import { Inject, Module, type DynamicModule, type OnApplicationShutdown } from '@nestjs/common';
import { AuditRecorder } from '@causeway/access';
import { injectionToken, provideFrom } from '@causeway/runtime';
import { POSTGRES_BACKEND } from '@causeway/store-postgres';
import { CORE, type ModuleImports } from '../core.module';

/** The `AuditRecorder` of this replica, which all interfaces share. */
export const AUDIT_RECORDER = injectionToken<AuditRecorder>('AuditRecorder');

const provider = provideFrom(
  AUDIT_RECORDER,
  { core: CORE, backend: POSTGRES_BACKEND },
  ({ core: { clock, logger }, backend }) => new AuditRecorder({ log: backend.audit, clock, logger }),
);

/** Provides the recorder of activities and refusals; it stores queued entries after the interfaces have ended. */
@Module({})
export class AuditModule implements OnApplicationShutdown {
  constructor(@Inject(AUDIT_RECORDER) private readonly recorder: AuditRecorder) {}

  static forRoot({ imports }: ModuleImports): DynamicModule {
    return { module: AuditModule, imports, providers: [provider], exports: [AUDIT_RECORDER] };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.recorder.close();
  }
}
