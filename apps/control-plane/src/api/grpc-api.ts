import type { DynamicModule } from '@nestjs/common';
import { GrpcApiModule, type GrpcApiOptions } from '@causeway/grpc-api';
import { injectFrom, type Provided } from '@causeway/runtime';
import { POSTGRES_BACKEND } from '@causeway/store-postgres';
import { ACCESS_POLICY } from './access.module';
import { ADMISSION } from './admission.module';
import { AUDIT_RECORDER } from './audit.module';
import { AUTHENTICATION, CALLER_RATES } from './authentication.module';
import { GrpcCertificates } from '../certificates/certificates.module';
import { CORE, type ModuleImports } from '../core.module';
import { INDEX } from '../state/index.module';
import { QUERIES } from './queries.module';
import { streamRates } from '../settings/settings';
import { defaultsReadiness } from '../leader/store-maintenance';

const SOURCES = {
  core: CORE,
  backend: POSTGRES_BACKEND,
  index: INDEX,
  queries: QUERIES,
  admission: ADMISSION,
  policy: ACCESS_POLICY,
  authentication: AUTHENTICATION,
  rates: CALLER_RATES,
  recorder: AUDIT_RECORDER,
  certificates: GrpcCertificates,
};

/** Returns the module of the gRPC API, with the same queries as REST; `imports` are the modules that provide them. */
export function grpcApiModule({ imports }: ModuleImports): DynamicModule {
  return GrpcApiModule.forRootAsync({ imports, ...injectFrom(SOURCES, grpcApiOptions) });
}

function grpcApiOptions(sources: Provided<typeof SOURCES>): GrpcApiOptions {
  const { core, backend, index, queries, admission, policy, authentication, rates, recorder, certificates } = sources;
  const { registry, clock, logger, settings, shutdown, tracer } = core;
  const defaults = defaultsReadiness({ store: backend.store, index, shutdown });
  return {
    registry,
    clock,
    logger,
    queries,
    admission,
    policy,
    authenticator: authentication.authenticator,
    rates,
    recorder,
    tracer,
    notReady: () => (shutdown.aborted ? 'this control plane is ending' : defaults()),
    host: settings.CAUSEWAY_BIND_ADDRESS,
    port: settings.CAUSEWAY_GRPC_PORT,
    certificates: () => certificates.certificates(),
    observe: (call) => {
      core.calls.observe(call);
      if (settings.CAUSEWAY_ACCESS_LOG === 'on') logger.info('request', { ...call });
    },
    connections: {
      all: settings.CAUSEWAY_GRPC_CONNECTIONS,
      address: settings.CAUSEWAY_GRPC_CONNECTIONS_PER_CLIENT,
      streams: streamRates(settings),
    },
  };
}
