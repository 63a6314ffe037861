import { decodeDocument } from '@causeway/admission';
import { coreKinds } from '@causeway/kinds';
import type { Kind } from '@causeway/resources';
import { judgeDraft } from '../../../libs/admission/src/judge-draft';
import { mergePatch } from '../../../libs/admission/src/merge-patch';
import { toDocument } from '../../../libs/admission/src/render-document';
import { decodeBody } from '../../../libs/rest/src/http/body-decode';
import { DEFAULT_LIMITS } from '../../../libs/rest/src/dependencies';
import type { Prng } from '../../simulation/engine/prng';
import { takesInput, takesText, type EntryPoint } from '../entry-point';
import { bodyShapes } from '../shapes/bodies';
import { yamlShapes } from '../shapes/yaml';

const ZONE = { role: 'zone', zone: 'east', federated: true } as const;
const GLOBAL = { role: 'global' } as const;

/** Bodies of REST as admission takes them: decoded, read as a document, judged against the kind. */
export function bodyEntries(draw: Prng): EntryPoint[] {
  const kinds = coreKinds.kinds.map((kind) => [kind, bodyShapes(kind, draw.fork(kind.name))] as const);
  const [dense] = kinds.flatMap(([kind, shapes]) => (kind.name === 'Dataplane' ? [shapes] : []));
  return [
    ...kinds.map(([kind, shapes]) =>
      takesInput({ name: `${kind.name} in JSON`, largest: DEFAULT_LIMITS.body }, shapes, Buffer.from, (bytes) =>
        judge(kind, decodeBody('application/json', bytes)),
      ),
    ),
    ...kinds.map(([kind, shapes]) =>
      takesInput(
        { name: `${kind.name} in YAML`, largest: DEFAULT_LIMITS.yaml },
        shapes.filter((_, i) => i % 9 === draw.between(0, 8)),
        Buffer.from,
        (bytes) => judge(kind, decodeBody('application/yaml', bytes)),
      ),
    ),
    takesInput({ name: 'any YAML', largest: DEFAULT_LIMITS.yaml }, yamlShapes(draw), Buffer.from, (bytes) =>
      decodeBody('application/yaml', bytes),
    ),
    takesText('merge patch', DEFAULT_LIMITS.body, dense ?? [], (text) => {
      const patch = JSON.parse(text);
      return mergePatch(mergePatch({}, patch), patch);
    }),
  ];
}

function judge(kind: Kind, body: unknown): unknown {
  const cp = kind.sync.writtenOn.includes('zone') ? ZONE : GLOBAL;
  const { id, labels, spec, violations } = judgeDraft(decodeDocument(coreKinds, body, { kind }), cp);
  if (violations.total > 0) return violations.first;
  const facts = { uid: 'u', generation: 1, revision: 1, createdAt: 0, modifiedAt: 0, creationOrder: 1 };
  const origin = { incarnation: 'i', revision: 1, committedAt: 0 };
  return JSON.stringify(toDocument(kind, { id, labels, spec, ...facts, origin, freed: [] }));
}
