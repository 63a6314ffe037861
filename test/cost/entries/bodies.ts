import { deserialize, serialize } from 'node:v8';
import { decodeDocument } from '@causeway/admission/testing';
import { coreKinds } from '@causeway/kinds';
import { jsonShapeViolation, type Kind } from '@causeway/resources';
import { validateDraft } from '../../../libs/admission/src/validate-draft';
import { mergePatch } from '../../../libs/admission/src/plan-write';
import { toDocument } from '../../../libs/admission/src/document/render-document';
import { parseBody, MAX_INLINE_BYTES, type BodyFormat } from '../../../libs/rest/src/http/body-decode';
import { DEFAULT_LIMITS } from '../../../libs/rest/src/rest-dependencies';
import type { Prng } from '../../simulation/engine/prng';
import { takesInput, takesText, type EntryPoint, type Shape, type TextShape } from '../entry-point';
import { bodyShapes } from '../shapes/bodies';
import { yamlShapes } from '../shapes/yaml';

const ZONE = { role: 'zone', zone: 'east', federated: true } as const;
const GLOBAL = { role: 'global' } as const;

/**
 * Bodies of REST as admission handles them: decoded, read as a document, validated against the kind. Large ones are read in a thread: the thread's
 * part is an entry of its own, and the entries of kinds measure only the main thread's part.
 */
export function bodyEntries(draw: Prng): EntryPoint[] {
  const kinds = coreKinds.kinds.map((kind) => [kind, bodyShapes(kind, draw.fork(kind.name))] as const);
  const all = kinds.flatMap(([, shapes]) => shapes);
  const { body, yaml } = DEFAULT_LIMITS;
  return [
    ...kinds.map(([kind, shapes]) =>
      takesInput({ name: `${kind.name} in JSON`, largest: body }, shapes, left('json', kind), run),
    ),
    { name: 'any kind in YAML', largest: yaml, shapes: kinds.flatMap(([kind, shapes]) => inYaml(kind, shapes)) },
    takesInput({ name: 'JSON (above 64 KiB in a thread)', largest: body }, all, Buffer.from, (bytes) =>
      jsonShapeViolation(parseBody('json', bytes)),
    ),
    takesInput(
      { name: 'YAML (above 8 KiB in a thread)', largest: yaml },
      [...yamlShapes(draw), ...all],
      Buffer.from,
      (bytes) => parseBody('yaml', bytes),
    ),
    takesText('merge patch', MAX_INLINE_BYTES.json, all, (text) => {
      const patch = JSON.parse(text);
      return mergePatch(mergePatch({}, patch), patch);
    }),
  ];
}

/** Returns the part of reading a body that the main thread does. */
function left(format: BodyFormat, kind: Kind): (text: string) => () => unknown {
  return (text) => {
    const bytes = Buffer.from(text);
    if (bytes.length <= MAX_INLINE_BYTES[format]) return () => judge(kind, parseBody(format, bytes));
    try {
      const value = parseBody(format, bytes);
      if (format === 'json')
        return jsonShapeViolation(value) ? () => undefined : () => judge(kind, parseBody(format, bytes));
      const message = serialize(value);
      return () => judge(kind, deserialize(message));
    } catch {
      return () => undefined;
    }
  };
}

function inYaml(kind: Kind, shapes: readonly TextShape[]): readonly Shape[] {
  const take = left('yaml', kind);
  return shapes.map(({ name, make }) => ({ name: `${kind.name}: ${name}`, prepare: (size) => take(make(size)) }));
}

function run(work: () => unknown): unknown {
  return work();
}

function judge(kind: Kind, body: unknown): unknown {
  const cp = kind.sync.writtenOn.includes('zone') ? ZONE : GLOBAL;
  const { id, labels, spec, violations } = validateDraft(decodeDocument(coreKinds, body, { kind }), cp);
  if (violations.total > 0) return violations.first;
  const facts = { uid: 'u', generation: 1, revision: 1, createdAt: 0, modifiedAt: 0, creationOrder: 1 };
  const origin = { incarnation: 'i', revision: 1, committedAt: 0 };
  return JSON.stringify(toDocument(kind, { id, labels, spec, ...facts, origin, freed: [] }));
}
