import {
  ConfigurableModuleBuilder,
  Inject,
  Module,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { createRestServer, type RestDependencies, type RestServer } from '@causeway/rest';
import { CORE, type ControlPlaneCore } from './core.module';

/** The `RestServer` of this replica. */
export const REST_SERVER = Symbol('RestServer');

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<RestDependencies>()
  .setClassMethodName('forRoot')
  .build();

class RestListener implements OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(
    @Inject(CORE) private readonly core: ControlPlaneCore,
    @Inject(REST_SERVER) private readonly server: RestServer,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { settings, logger } = this.core;
    const host = settings.CAUSEWAY_BIND_ADDRESS;
    const port = await this.server.listen(host, settings.CAUSEWAY_REST_PORT);
    logger.info('listening', { rest: `http://${host}:${port}` });
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.server.close();
  }
}

/** REST as an application of its own. */
@Module({
  providers: [{ provide: REST_SERVER, inject: [MODULE_OPTIONS_TOKEN], useFactory: createRestServer }, RestListener],
  exports: [REST_SERVER],
})
export class RestServerModule extends ConfigurableModuleClass {}
