import { Inject, Module, type DynamicModule, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { CallerRates, createAuthentication, type Authentication } from '@causeway/access';
import { injectionToken, provideFrom } from '@causeway/runtime';
import { POSTGRES_BACKEND } from '@causeway/store-postgres';
import { CORE, type ControlPlaneCore, type ModuleImports } from '../core.module';
import { INDEX } from '../state/index.module';
import { retryWhileUnavailable } from '../state/retry-while-unavailable';

/** The `Authentication` of this replica: authenticates users on every interface. */
export const AUTHENTICATION = injectionToken<Authentication>('Authentication');

/** The `CallerRates` of this replica, which all interfaces share. */
export const CALLER_RATES = injectionToken<CallerRates>('CallerRates');

const authentication = provideFrom(
  AUTHENTICATION,
  { core: CORE, backend: POSTGRES_BACKEND, index: INDEX },
  ({ core, backend: { store }, index }) =>
    createAuthentication({ ...core, store, index, operatorToken: core.settings.CAUSEWAY_OPERATOR_TOKEN }),
);

const callerRates = provideFrom(
  CALLER_RATES,
  { core: CORE },
  ({ core: { settings, clock } }) =>
    new CallerRates({ user: settings.CAUSEWAY_USER_RATE, address: settings.CAUSEWAY_ANONYMOUS_RATE }, clock),
);

/** User tokens, OIDC and the operator token; creates the first signing key if there is none. */
@Module({})
export class AuthenticationModule implements OnModuleInit, OnApplicationShutdown {
  constructor(
    @Inject(CORE) private readonly core: ControlPlaneCore,
    @Inject(AUTHENTICATION) private readonly authentication: Authentication,
  ) {}

  static forRoot({ imports }: ModuleImports): DynamicModule {
    return {
      module: AuthenticationModule,
      imports,
      providers: [authentication, callerRates],
      exports: [AUTHENTICATION, CALLER_RATES],
    };
  }

  async onModuleInit(): Promise<void> {
    const { clock, logger, shutdown: signal, reload } = this.core;
    reload.on('CAUSEWAY_OPERATOR_TOKEN', (token) => {
      this.authentication.authenticator.useOperatorToken(token);
      logger.info('the operator token was replaced', { given: token !== undefined });
    });
    await retryWhileUnavailable(() => this.authentication.tokens.ensureKey(), { clock, logger, signal });
  }

  onApplicationShutdown(): void {
    this.authentication.close();
  }
}
