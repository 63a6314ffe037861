import type { Kind, Registry } from '@causeway/resources';

/** Returns a kind that every registry has. */
export function findKind(registry: Registry, name: string): Kind {
  const kind = registry.kind(name);
  if (!kind) throw new Error(`the registry has no ${name}`);
  return kind;
}
