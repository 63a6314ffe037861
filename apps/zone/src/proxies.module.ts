import {
  Inject,
  Module,
  type BeforeApplicationShutdown,
  type DynamicModule,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type { ControlPlaneCore, ModuleImports } from '@causeway/control-plane';
import { ProxyDirectory } from '@causeway/controllers';
import { POSTGRES_BACKEND, type PostgresBackend } from '@causeway/store-postgres';
import type { ZoneSettings } from './config';

/** Reads the sessions of proxies as long as the application runs. */
class ProxyDirectoryReader implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly ending = new AbortController();
  private reading: Promise<void> = Promise.resolve();

  constructor(@Inject(ProxyDirectory) private readonly directory: ProxyDirectory) {}

  onApplicationBootstrap(): void {
    this.reading = this.directory.run(this.ending.signal);
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.ending.abort();
    await this.reading;
  }
}

/** The proxies of the zone as all its replicas know them. */
@Module({})
export class ProxiesModule {
  static forRoot({ imports, core }: ModuleImports & { readonly core: ControlPlaneCore<ZoneSettings> }): DynamicModule {
    const { clock, logger } = core;
    const directory = {
      provide: ProxyDirectory,
      inject: [POSTGRES_BACKEND],
      useFactory: ({ proxies: store }: PostgresBackend) => new ProxyDirectory({ store, clock, logger }),
    };
    return { module: ProxiesModule, imports, providers: [directory, ProxyDirectoryReader], exports: [ProxyDirectory] };
  }
}
