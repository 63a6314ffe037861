import type { Kind, Registry } from '@causeway/resources';
import { truncated } from './truncated';

/** The path of a list or a resource of a kind on REST: `/meshes/default/meshservices/redis`. */
export function kindPath(kind: Kind, mesh: string, name?: string): string {
  const parts = [
    ...(kind.scope === 'mesh' && mesh !== '' ? ['meshes', mesh] : []),
    kind.plural,
    ...(name === undefined ? [] : [name]),
  ];
  return `/${parts.map((part) => encodeURIComponent(part)).join('/')}`;
}

/** What to say of a path nobody serves: the nearest one where there is one. */
export function unknownPath(whole: string, registry: Registry): string {
  const path = truncated(whole);
  const segments = path.split('/').filter((segment) => segment !== '');
  const inMesh = segments[0] === 'meshes' && segments.length > 2;
  const noun = (inMesh ? segments[2] : segments[0]) ?? '';
  const kind = registry.noun(noun);
  if (kind) return wrongScope(kind, inMesh, path);
  const guess = noun.length > 3 ? registry.suggestNoun(noun) : undefined;
  const plural = guess === undefined ? undefined : registry.noun(guess)?.plural;
  return `There is no path ${path}${plural === undefined ? '.' : `; did you mean "${plural}"?`} GET /_resources lists the kinds.`;
}

function wrongScope(kind: Kind, inMesh: boolean, path: string): string {
  if (kind.scope === 'mesh' && !inMesh)
    return `There is no path ${path}; a ${kind.name} belongs to a mesh: /meshes/{mesh}/${kind.plural}/{name}.`;
  if (kind.scope === 'global' && inMesh)
    return `There is no path ${path}; a ${kind.name} belongs to no mesh: /${kind.plural}/{name}.`;
  return `There is no path ${path}; the kind ${kind.name} is served under ${kindPath(kind, kind.scope === 'mesh' ? '{mesh}' : '')}.`;
}

/** The path of a URL, without query. */
export function pathOf(url: string): string {
  const end = url.search(/[?#]/);
  return end < 0 ? url : url.slice(0, end);
}
