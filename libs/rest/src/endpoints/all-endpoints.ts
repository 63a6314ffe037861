import { applyEndpoints } from './apply';
import { auditEndpoints } from './audit';
import { backupEndpoints } from './backup';
import { discoveryEndpoints } from './discovery';
import type { Endpoint } from '../operations/endpoint';
import { nameEndpoints } from './names';
import { overviewEndpoints } from './overviews';
import { policyEndpoints } from './policies';
import { proxyEndpoints } from './proxies';
import { resourceEndpoints } from './resources';
import { routeEndpoints } from './routes';
import { serverEndpoints } from './server';
import type { EndpointSources } from '../operations/sources';
import { syncEndpoints } from './sync';
import { tokenEndpoints } from './tokens';
import { workloadEndpoints } from './workloads';

/** Returns the endpoints of all operations. */
export function allEndpoints(sources: EndpointSources): readonly Endpoint[] {
  return [
    serverEndpoints,
    nameEndpoints,
    overviewEndpoints,
    routeEndpoints,
    policyEndpoints,
    tokenEndpoints,
    workloadEndpoints,
    syncEndpoints,
    applyEndpoints,
    auditEndpoints,
    backupEndpoints,
    proxyEndpoints,
    discoveryEndpoints,
    resourceEndpoints,
  ].flatMap((endpoints) => endpoints(sources));
}
