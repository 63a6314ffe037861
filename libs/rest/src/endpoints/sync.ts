import { adoptZone, confirmGlobal, confirmZone, resetZoneEpoch } from '@causeway/api';
import { endpoint, type Endpoint } from '../operations/endpoint';
import type { EndpointSources } from '../operations/sources';

/** Endpoints of operators' decisions about sync; those of the other role answer 404. */
export function syncEndpoints({ queries: { decisions } }: EndpointSources): readonly Endpoint[] {
  return [
    endpoint(confirmZone, (call) => decisions.confirmZone(call.path('name'))),
    endpoint(adoptZone, (call, { body: { storeId } }) => decisions.adoptZone(call.path('name'), storeId)),
    endpoint(resetZoneEpoch, (call) => decisions.resetEpoch(call.path('name'))),
    endpoint(confirmGlobal, () => decisions.confirmGlobal()),
  ];
}
