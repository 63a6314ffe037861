import {
  ConfigurableModuleBuilder,
  Inject,
  Module,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { injectionToken, provideFrom } from '@causeway/runtime';
import { XdsPort, type XdsPortOptions } from './xds-port';

const OPTIONS = injectionToken<XdsPortOptions>('XdsPortOptions');

const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<XdsPortOptions>({ optionsInjectionToken: OPTIONS })
  .setClassMethodName('forRoot')
  .build();

/** Serves proxies from bootstrap until the application shuts down. */
class XdsListener implements OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(
    @Inject(XdsPort) private readonly xds: XdsPort,
    @Inject(OPTIONS) private readonly options: XdsPortOptions,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { logger, listen } = this.options;
    const tls = listen.certificates() !== undefined;
    const port = await this.xds.listen();
    logger.info('serving proxies', { xds: `${listen.host}:${port}`, tls });
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.xds.close();
  }
}

/** Port for a zone's proxies. Its sources, above all the index, must be in modules that its options import. */
@Module({
  providers: [provideFrom(XdsPort, { options: OPTIONS }, ({ options }) => new XdsPort(options)), XdsListener],
  exports: [XdsPort],
})
export class XdsModule extends ConfigurableModuleClass {}
