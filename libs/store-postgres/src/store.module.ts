import {
  ConfigurableModuleBuilder,
  Inject,
  Module,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { PostgresBackend, type PostgresOptions } from './postgres-backend';

/** The `PostgresBackend` of the program: store, sessions of zones, leader's lease. */
export const POSTGRES_BACKEND = Symbol('PostgresBackend');

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<PostgresOptions>()
  .setClassMethodName('forRoot')
  .build();

/** The connections: open before anything that uses them starts, closed after all of it has ended. */
class StoreConnection implements OnModuleInit, OnApplicationShutdown {
  constructor(@Inject(POSTGRES_BACKEND) private readonly backend: PostgresBackend) {}

  onModuleInit(): Promise<void> {
    return this.backend.connect();
  }

  onApplicationShutdown(): Promise<void> {
    return this.backend.close();
  }
}

/**
 * The store of a control plane in Postgres. It is connected and its schema is up to date before any module that imports
 * this one starts; it is closed after all of them have ended.
 */
@Module({
  providers: [
    {
      provide: POSTGRES_BACKEND,
      inject: [MODULE_OPTIONS_TOKEN],
      useFactory: (options: PostgresOptions) => new PostgresBackend(options),
    },
    StoreConnection,
  ],
  exports: [POSTGRES_BACKEND],
})
export class StoreModule extends ConfigurableModuleClass {}
