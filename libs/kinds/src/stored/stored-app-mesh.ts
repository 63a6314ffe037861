import type { VirtualSource } from '@causeway/appmesh';
import { compileSchema, isJsonObject, type Resource } from '@causeway/resources';
import { VirtualNode } from '../virtual-node';
import { VirtualRouter } from '../virtual-router';
import { VirtualService } from '../virtual-service';
import { withoutNulls } from './without-nulls';

const [nodes, routers, services] = [VirtualNode, VirtualRouter, VirtualService].map(({ spec }) => compileSchema(spec));

type StoredParts = Pick<Resource, 'id' | 'creationOrder' | 'generation' | 'spec'>;

/**
 * Reads a stored VirtualNode, VirtualRouter or VirtualService for compilation. Stored content is validated again;
 * returns undefined if it does not fit its schema, and for other kinds. Linear in the document; never throws.
 */
export function readStoredSource({
  id,
  creationOrder,
  generation,
  spec: given,
}: StoredParts): VirtualSource | undefined {
  const own = { id, creationOrder, generation };
  const spec = withoutNulls(given);
  if (!isJsonObject(spec)) return undefined;
  if (id.kind === VirtualNode.name && nodes?.fits(spec) && VirtualNode.isSpec(spec))
    return { ...own, kind: 'VirtualNode', spec };
  if (id.kind === VirtualRouter.name && routers?.fits(spec) && VirtualRouter.isSpec(spec))
    return { ...own, kind: 'VirtualRouter', spec };
  if (id.kind === VirtualService.name && services?.fits(spec) && VirtualService.isSpec(spec))
    return { ...own, kind: 'VirtualService', spec };
  return undefined;
}
