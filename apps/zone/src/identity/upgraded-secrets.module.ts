import {
  Inject,
  Module,
  type BeforeApplicationShutdown,
  type DynamicModule,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { INDEX, type ControlPlaneCore, type ModuleImports } from '@causeway/control-plane';
import { UpgradedSecrets } from '@causeway/controllers';
import { provideFrom } from '@causeway/runtime';
import { POSTGRES_BACKEND } from '@causeway/store-postgres';

/** Polls for the upgrade of Secrets while the program runs. */
class UpgradeLookup implements OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(@Inject(UpgradedSecrets) private readonly secrets: UpgradedSecrets) {}

  onApplicationBootstrap(): void {
    void this.secrets.run();
  }

  beforeApplicationShutdown(): void {
    this.secrets.close();
  }
}

/** Provides whether the Secrets of this store list their users. */
@Module({})
export class UpgradedSecretsModule {
  static forRoot({
    imports,
    core: { clock, logger },
  }: ModuleImports & { readonly core: Pick<ControlPlaneCore, 'clock' | 'logger'> }): DynamicModule {
    const provider = provideFrom(
      UpgradedSecrets,
      { backend: POSTGRES_BACKEND, index: INDEX },
      ({ backend: { store }, index }) => new UpgradedSecrets({ store, index, clock, logger }),
    );
    return {
      module: UpgradedSecretsModule,
      imports,
      providers: [provider, UpgradeLookup],
      exports: [UpgradedSecrets],
    };
  }
}
