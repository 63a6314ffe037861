import { injectFrom, type Provided } from '@causeway/runtime';
import { RestModule, type RestDependencies, type RestLimits } from '@causeway/rest';
import type { DynamicModule } from '@nestjs/common';
import { ACCESS_POLICY } from './access.module';
import { AUDIT_RECORDER } from './audit.module';
import { ADMISSION } from './admission.module';
import { AUTHENTICATION, CALLER_RATES } from './authentication.module';
import { CORE, type ControlPlaneCore, type ModuleImports } from '../core.module';
import { QUERIES } from './queries.module';
import { RestCertificates } from '../certificates/certificates.module';
import { VERSION } from '../version';

const SOURCES = {
  core: CORE,
  queries: QUERIES,
  admission: ADMISSION,
  policy: ACCESS_POLICY,
  authentication: AUTHENTICATION,
  rates: CALLER_RATES,
  recorder: AUDIT_RECORDER,
  certificates: RestCertificates,
};

/** Returns the module of REST over the queries and admission of a control plane; `imports` are the modules that provide these and authentication. */
export function restModule({ imports }: ModuleImports): DynamicModule {
  return RestModule.forRootAsync({ imports, ...injectFrom(SOURCES, restDependencies) });
}

function restDependencies(sources: Provided<typeof SOURCES>): RestDependencies {
  const { core, queries, admission, policy, authentication, rates, recorder, certificates } = sources;
  const { registry, clock, logger, settings, tracer } = core;
  return {
    registry,
    clock,
    logger,
    queries,
    admission,
    recorder,
    tracer,
    version: VERSION,
    access: { authenticator: authentication.authenticator, policy, rates },
    authority: () => certificates.authority(),
    limits: restLimits(settings),
    diagnosticsPort: settings.CAUSEWAY_DIAGNOSTICS_PORT,
    observe: (request) => {
      core.requests.observe(request);
      if (settings.CAUSEWAY_ACCESS_LOG === 'on') logger.info('request', { ...request });
    },
  };
}

/** Returns the limits of REST from the settings. */
export function restLimits(settings: ControlPlaneCore['settings']): Partial<RestLimits> {
  return {
    connections: settings.CAUSEWAY_REST_CONNECTIONS,
    connectionsPerClient: settings.CAUSEWAY_REST_CONNECTIONS_PER_CLIENT,
  };
}
