/*
 * One global and two zones, as processes, in which these scenarios run one after the other: a start of a mesh costs as much as most of them. What
 * one of them leaves in the mesh the next ones find, so each has services of its own; the last two spend what the others need.
 */
import { startSharedMesh, stopSharedMesh } from './shared-mesh';

beforeAll(startSharedMesh);
afterAll(stopSharedMesh);

import './global-away';
import './app-mesh-conflicts';
import './mesh-of-a-zone';
import './newer-rows';
import './generators-everywhere';
import './backup';
import './zone-security';
import './rapid-reset';
