import { Registry } from '@causeway/resources';
import { Dataplane } from './dataplane';
import { HostnameGenerator } from './hostname-generator';
import { Mesh } from './mesh';
import { MeshService } from './mesh-service';
import { Namespace } from './namespace';
import { Zone } from './zone';

/** Every kind of the product; the one place where a kind is registered. */
export const coreKinds = new Registry([Mesh, Namespace, Zone, Dataplane, MeshService, HostnameGenerator]);
