import type { AuditRecorder } from '@causeway/access';
import type { Admission } from '@causeway/admission';
import type { Queries } from '@causeway/queries';
import { RestModule, type RestDependencies, type RestLimits } from '@causeway/rest';
import type { DynamicModule } from '@nestjs/common';
import { AUDIT_RECORDER } from './audit.module';
import { ADMISSION } from './admission.module';
import { CORE, type ControlPlaneCore, type ModuleImports } from './core.module';
import { QUERIES } from './queries.module';
import { VERSION } from './version';

/** REST over the queries and the admission of a control plane; `imports` are the modules that have these. */
export function restModule({ imports }: ModuleImports): DynamicModule {
  return RestModule.forRootAsync({
    imports,
    inject: [CORE, QUERIES, ADMISSION, AUDIT_RECORDER],
    useFactory: restDependencies,
  });
}

function restDependencies(
  core: ControlPlaneCore,
  queries: Queries,
  admission: Admission,
  recorder: AuditRecorder,
): RestDependencies {
  const { registry, clock, logger, settings } = core;
  const token = settings.CAUSEWAY_OPERATOR_TOKEN;
  return {
    ...{ registry, clock, logger, queries, admission, recorder, version: VERSION },
    access: {
      bindAddress: settings.CAUSEWAY_BIND_ADDRESS,
      ...(token === undefined ? {} : { operatorToken: token }),
    },
    limits: restLimits(settings),
  };
}

/** The bounds of REST that settings choose. */
export function restLimits(settings: ControlPlaneCore['settings']): Partial<RestLimits> {
  return {
    connections: settings.CAUSEWAY_REST_CONNECTIONS,
    connectionsPerClient: settings.CAUSEWAY_REST_CONNECTIONS_PER_CLIENT,
  };
}
