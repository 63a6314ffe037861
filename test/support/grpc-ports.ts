import type { ProcessMesh } from './process-mesh';
import type { ProcessPlane } from './process-plane';
import type { RawTarget } from './raw-http2';

/** A port of a control plane that speaks gRPC, and a call that is served there. */
export interface GrpcPort {
  readonly name: string;
  readonly plane: ProcessPlane;
  readonly target: RawTarget;
  readonly path: string;
}

/** The gRPC ports of the global and of zone east. */
export function grpcPortsOf(mesh: ProcessMesh): readonly GrpcPort[] {
  const [plane, east] = [mesh.global, mesh.zone('east')];
  const get = '/causeway.v1.ResourceService/Get';
  const ads = '/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources';
  const sync = '/kuma.mesh.v1alpha1.KDSSyncService/GlobalToZoneSync';
  return [
    { name: 'gRPC of a zone', plane: east, target: targetOf(east.grpcUrl), path: get },
    { name: 'xDS', plane: east, target: targetOf(east.xdsAddress), path: ads },
    { name: 'gRPC of the global', plane, target: targetOf(plane.grpcUrl), path: get },
    { name: 'KDS', plane, target: { ...targetOf(plane.kdsAddress), tls: true }, path: sync },
  ];
}

function targetOf(place: string): RawTarget {
  const [host = '', port] = place.replace(/^grpcs?:\/\//, '').split(':');
  return { host, port: Number(port) };
}
