import { ConfigurableModuleBuilder, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { createPostgresBackend, type PostgresBackend, type PostgresOptions } from './postgres-backend';

/** The `PostgresBackend` of the program: store, sessions of zones, leader's lease. */
export const POSTGRES_BACKEND = Symbol('PostgresBackend');

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<PostgresOptions>()
  .setClassMethodName('forRoot')
  .build();

/** Closes the connections after everything that uses them has ended. */
class StoreConnection implements OnApplicationShutdown {
  constructor(@Inject(POSTGRES_BACKEND) private readonly backend: PostgresBackend) {}

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
    { provide: POSTGRES_BACKEND, inject: [MODULE_OPTIONS_TOKEN], useFactory: createPostgresBackend },
    StoreConnection,
  ],
  exports: [POSTGRES_BACKEND],
})
export class StoreModule extends ConfigurableModuleClass {}
