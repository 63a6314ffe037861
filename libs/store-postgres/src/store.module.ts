import {
  ConfigurableModuleBuilder,
  Inject,
  Module,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { injectionToken, provideFrom } from '@causeway/runtime';
import { PostgresBackend, type PostgresOptions } from './postgres-backend';

/** The `PostgresBackend` of the program: store, sessions of zones, leader's lease. */
export const POSTGRES_BACKEND = injectionToken<PostgresBackend>('PostgresBackend');

const OPTIONS = injectionToken<PostgresOptions>('PostgresOptions');

const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<PostgresOptions>({ optionsInjectionToken: OPTIONS })
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
    provideFrom(POSTGRES_BACKEND, { options: OPTIONS }, ({ options }) => new PostgresBackend(options)),
    StoreConnection,
  ],
  exports: [POSTGRES_BACKEND],
})
export class StoreModule extends ConfigurableModuleClass {}
