import { undeclaredKind } from '@causeway/kinds';
import type { Kind, Registry } from '@causeway/resources';
import { isKindSentDown, isKindSentUp } from '@causeway/sync';
import { Extension } from '../wire/dialect';
import type { Session } from './session';

/** Maximum number of cached kinds that no definition declares; they can be created again at any time. */
const MAX_CACHED_KINDS = 512;

const UNDECLARED = new Map<string, Kind>();

/**
 * Returns a kind in the form that sync uses. An unknown kind may be declared earlier or later: its resources are sent
 * and received like those of any declared kind, so none is lost if it arrives before its definition or stays after it.
 */
export function findSyncedKind(registry: Pick<Registry, 'kind'>, name: string): Kind {
  const known = registry.kind(name) ?? UNDECLARED.get(name);
  if (known) return known;
  if (UNDECLARED.size >= MAX_CACHED_KINDS) UNDECLARED.clear();
  const kind = undeclaredKind(name);
  UNDECLARED.set(name, kind);
  return kind;
}

/** Returns the kinds that this end subscribes to. Declared kinds are requested only from peers that support them. */
export function listReceivedKinds(session: Session): readonly string[] {
  const isSent = session.role === 'global' ? isKindSentUp : isKindSentDown;
  const hasDeclared = session.extensions.includes(Extension.kinds);
  return session.registry.kinds
    .filter((kind) => isSent(kind, session) && (kind.declaredBy === '' || hasDeclared))
    .map(({ name }) => name);
}
