import type { Identity } from '@causeway/resources';
import type { Refusal, RefusalFacts } from '@causeway/store';

type IdentityTuple = readonly [kind: string, mesh: string, zone: string, namespace: string, name: string];

/** One result as `causeway_write` sends it. */
export type WireResult =
  | readonly [
      at: number,
      outcome: 'created' | 'written' | 'unchanged',
      revision: number,
      generation: number,
      uid: string,
      creationOrder?: number,
    ]
  | readonly [
      at: number,
      refusal: Refusal,
      revision: number | null,
      originRevision: number | null,
      holder: IdentityTuple | null,
    ];

/** Decodes the results of `causeway_write`. The JSON is trusted, because the function is ours. */
export function wireResults(text: string): readonly WireResult[] {
  return JSON.parse(text) as readonly WireResult[];
}

/** Decodes the database's facts about a refused change. */
export function decodeRefusalFacts(entry: WireResult): RefusalFacts {
  const [, , revision, originRevision, holder] = entry;
  return {
    ...(revision === null ? {} : { revision }),
    ...(originRevision === null ? {} : { originRevision }),
    ...(holder === null || typeof holder === 'string' ? {} : { holder: readIdentity(holder) }),
  };
}

function readIdentity([kind, mesh, zone, namespace, name]: IdentityTuple): Identity {
  return { kind, mesh, zone, namespace, name };
}
