import type { AccessPolicy, AuditRecorder, Authentication, CallerRates } from '@causeway/access';
import type { Admission } from '@causeway/admission';
import type { Queries } from '@causeway/queries';
import { RestModule, type RestDependencies, type RestLimits } from '@causeway/rest';
import type { DynamicModule } from '@nestjs/common';
import { ACCESS_POLICY } from './access.module';
import { AUDIT_RECORDER } from './audit.module';
import { ADMISSION } from './admission.module';
import { AUTHENTICATION, CALLER_RATES } from './authentication.module';
import { CORE, type ControlPlaneCore, type ModuleImports } from './core.module';
import { QUERIES } from './queries.module';
import { RestCertificates } from './certificates.module';
import { VERSION } from './version';

type RestSources = [
  core: ControlPlaneCore,
  queries: Queries,
  admission: Admission,
  policy: AccessPolicy,
  authentication: Authentication,
  rates: CallerRates,
  recorder: AuditRecorder,
  certificates: RestCertificates,
];

/** REST over the queries and the admission of a control plane; `imports` are the modules that have these, and who callers are. */
export function restModule({ imports }: ModuleImports): DynamicModule {
  return RestModule.forRootAsync({
    imports,
    inject: [CORE, QUERIES, ADMISSION, ACCESS_POLICY, AUTHENTICATION, CALLER_RATES, AUDIT_RECORDER, RestCertificates],
    useFactory: restDependencies,
  });
}

function restDependencies(...sources: RestSources): RestDependencies {
  const [core, queries, admission, policy, { authenticator }, rates, recorder, certificates] = sources;
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
    access: { authenticator, policy, rates },
    authority: () => certificates.authority(),
    limits: restLimits(settings),
    observe: (request) => {
      core.requests.observe(request);
      if (settings.CAUSEWAY_ACCESS_LOG === 'on') logger.info('request', { ...request });
    },
  };
}

/** The bounds of REST that settings choose. */
export function restLimits(settings: ControlPlaneCore['settings']): Partial<RestLimits> {
  return {
    connections: settings.CAUSEWAY_REST_CONNECTIONS,
    connectionsPerClient: settings.CAUSEWAY_REST_CONNECTIONS_PER_CLIENT,
  };
}
