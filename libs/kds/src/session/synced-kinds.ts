import { undeclaredKind } from '@causeway/kinds';
import type { Kind, Registry } from '@causeway/resources';
import { isKindSentDown, isKindSentUp } from '@causeway/sync';
import { Extension } from '../wire/dialect';
import type { Session } from './session';

/** Most kinds that are remembered although no definition declares them; they can be made again at any time. */
const REMEMBERED = 512;

const UNDECLARED = new Map<string, Kind>();

/**
 * A kind as sync handles it. One that is not known here may have been declared, or may be yet: its resources are sent and received as
 * those of any declared kind, so that neither the order in which a definition and its resources travel nor a definition that has gone loses
 * one of them.
 */
export function syncedKind(registry: Pick<Registry, 'kind'>, name: string): Kind {
  const known = registry.kind(name) ?? UNDECLARED.get(name);
  if (known) return known;
  if (UNDECLARED.size >= REMEMBERED) UNDECLARED.clear();
  const kind = undeclaredKind(name);
  UNDECLARED.set(name, kind);
  return kind;
}

/** The kinds that this end asks its peer for. Kinds that definitions declare are asked of peers that know such kinds. */
export function receivedKinds(session: Session): readonly string[] {
  const isSent = session.role === 'global' ? isKindSentUp : isKindSentDown;
  const hasDeclared = session.extensions.includes(Extension.kinds);
  return session.registry.kinds
    .filter((kind) => isSent(kind, session) && (kind.declaredBy === '' || hasDeclared))
    .map(({ name }) => name);
}
