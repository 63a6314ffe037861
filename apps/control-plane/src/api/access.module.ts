import { Inject, Module, type DynamicModule, type OnApplicationShutdown } from '@nestjs/common';
import { AccessPolicy } from '@causeway/access';
import type { Registry } from '@causeway/resources';
import { injectionToken, provideFrom } from '@causeway/runtime';
import { CORE, type ModuleImports } from '../core.module';
import { INDEX } from '../state/index.module';

/** The `AccessPolicy` of this replica. */
export const ACCESS_POLICY = injectionToken<AccessPolicy>('AccessPolicy');

/** Provides the access policy, which admission, the interfaces and sync share. */
@Module({})
export class AccessModule implements OnApplicationShutdown {
  constructor(@Inject(ACCESS_POLICY) private readonly policy: AccessPolicy) {}

  /** `registry`: kinds to which roles may refer; by default those of the program. */
  static forRoot({ imports, registry }: ModuleImports & { readonly registry?: Registry }): DynamicModule {
    const provider = provideFrom(
      ACCESS_POLICY,
      { core: CORE, index: INDEX },
      ({ core, index }) => new AccessPolicy({ registry: registry ?? core.registry, index, cp: core.cp }),
    );
    return {
      module: AccessModule,
      imports,
      providers: [provider],
      exports: [ACCESS_POLICY],
    };
  }

  onApplicationShutdown(): void {
    this.policy.close();
  }
}
