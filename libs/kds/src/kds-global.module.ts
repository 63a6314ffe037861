import {
  ConfigurableModuleBuilder,
  Inject,
  Module,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type { ServerCertificates } from '@causeway/access';
import { tlsServerCredentials } from '@causeway/grpc-server';
import { injectionToken, provideFrom } from '@causeway/runtime';
import { createGlobalSync, type GlobalSync } from './global/global-sync';
import type { GlobalSyncOptions } from './global/global-sync-options';

/** The `GlobalSync` of this replica. */
export const GLOBAL_SYNC = injectionToken<GlobalSync>('GlobalSync');

/** Listen options of a global, for zones. */
export interface KdsGlobalOptions {
  readonly sync: GlobalSyncOptions;
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** Called once, when the port is opened; plain text if it returns undefined. */
  readonly certificates: () => ServerCertificates | undefined;
  /** Fields for the log line that shows the address. */
  readonly logFields: Readonly<Record<string, string>>;
}

const OPTIONS = injectionToken<KdsGlobalOptions>('KdsGlobalOptions');

const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<KdsGlobalOptions>({ optionsInjectionToken: OPTIONS })
  .setClassMethodName('forRoot')
  .build();

/** The port that zones connect to: open from bootstrap until the application starts to shut down. */
class KdsListener implements OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(
    @Inject(GLOBAL_SYNC) private readonly sync: GlobalSync,
    @Inject(OPTIONS) private readonly options: KdsGlobalOptions,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { host, port, logFields, sync } = this.options;
    const certificates = this.options.certificates();
    const bound = await this.sync.bind(host, port, certificates && tlsServerCredentials(certificates));
    sync.logger.info('serving zones', { kds: `${host}:${bound}`, ...logFields });
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.sync.close();
  }
}

/** The global's side of sync. Its sources, above all the index, must be in modules that its options import. */
@Module({
  providers: [
    provideFrom(GLOBAL_SYNC, { options: OPTIONS }, ({ options }) => createGlobalSync(options.sync)),
    KdsListener,
  ],
  exports: [GLOBAL_SYNC],
})
export class KdsGlobalModule extends ConfigurableModuleClass {}
