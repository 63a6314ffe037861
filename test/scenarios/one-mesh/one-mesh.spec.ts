/**
 * One global and two zones, as processes, in which these scenarios run one after the other: a start of a mesh costs as much as most of them. The
 * changes of a scenario stay in the mesh, so each has services of its own; the last two use up what the others need.
 */
import { startSharedMesh, stopSharedMesh } from './shared-mesh';

beforeAll(startSharedMesh);
afterAll(stopSharedMesh);

import './global-away';
import './app-mesh-conflicts';
import './mesh-of-a-zone';
import './newer-rows';
import './new-services';
import './generators-everywhere';
import './backup';
import './zone-security';
import './rapid-reset';
