import {
  ConfigurableModuleBuilder,
  Inject,
  Module,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { injectionToken } from '@causeway/runtime';
import type { GrpcApiOptions } from './grpc-api-options';
import { GrpcApiServer } from './grpc-api-server';

const OPTIONS = injectionToken<GrpcApiOptions>('GrpcApiOptions');

const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<GrpcApiOptions>({ optionsInjectionToken: OPTIONS })
  .setClassMethodName('forRoot')
  .build();

/** The port of the gRPC API: open from bootstrap until the application starts to shut down. */
class GrpcApiListener implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly server: GrpcApiServer;

  constructor(@Inject(OPTIONS) private readonly options: GrpcApiOptions) {
    this.server = new GrpcApiServer(options);
  }

  async onApplicationBootstrap(): Promise<void> {
    const { host, logger } = this.options;
    const tls = this.options.certificates() !== undefined;
    const port = await this.server.listen();
    logger.info('listening', { grpc: `${tls ? 'grpcs' : 'grpc'}://${host}:${port}` });
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.server.close();
  }
}

/** The gRPC API of a control plane. Its sources, above all the index, must be in modules that its options import. */
@Module({ providers: [GrpcApiListener] })
export class GrpcApiModule extends ConfigurableModuleClass {}
