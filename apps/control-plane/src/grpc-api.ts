import type { DynamicModule } from '@nestjs/common';
import type { AccessPolicy, AuditRecorder, Authentication, CallerRates } from '@causeway/access';
import type { Admission } from '@causeway/admission';
import { GrpcApiModule, type GrpcApiOptions } from '@causeway/grpc-api';
import type { Queries } from '@causeway/queries';
import type { IndexReader } from '@causeway/store';
import { POSTGRES_BACKEND, type PostgresBackend } from '@causeway/store-postgres';
import { ACCESS_POLICY } from './access.module';
import { ADMISSION } from './admission.module';
import { AUDIT_RECORDER } from './audit.module';
import { AUTHENTICATION, CALLER_RATES } from './authentication.module';
import { GrpcCertificates } from './certificates.module';
import { CORE, type ControlPlaneCore, type ModuleImports } from './core.module';
import { INDEX } from './index.module';
import { QUERIES } from './queries.module';
import { streamRates } from './settings';
import { defaultsReadiness } from './store-maintenance';

type GrpcSources = [
  core: ControlPlaneCore,
  backend: PostgresBackend,
  index: IndexReader,
  queries: Queries,
  admission: Admission,
  policy: AccessPolicy,
  authentication: Authentication,
  rates: CallerRates,
  recorder: AuditRecorder,
  certificates: GrpcCertificates,
];

/** The gRPC API over what REST answers from too; `imports` are the modules that have that. */
export function grpcApiModule({ imports }: ModuleImports): DynamicModule {
  return GrpcApiModule.forRootAsync({
    imports,
    inject: [
      CORE,
      POSTGRES_BACKEND,
      INDEX,
      QUERIES,
      ADMISSION,
      ACCESS_POLICY,
      AUTHENTICATION,
      CALLER_RATES,
      AUDIT_RECORDER,
      GrpcCertificates,
    ],
    useFactory: (...sources: GrpcSources) => grpcApiOptions(...sources),
  });
}

function grpcApiOptions(...sources: GrpcSources): GrpcApiOptions {
  const [core, { store }, index, queries, admission, policy, { authenticator }, rates, recorder, certificates] =
    sources;
  const { registry, clock, logger, settings, shutdown, tracer } = core;
  const defaults = defaultsReadiness({ store, index, shutdown });
  return {
    registry,
    clock,
    logger,
    queries,
    admission,
    policy,
    authenticator,
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
