import {
  checkMeshParameters,
  isMeshParameters,
  PARAMETERS_KEY,
  type Mesh,
  type MeshParametersSpec,
} from '@causeway/kinds';
import {
  FieldPath,
  globalIdentity,
  isJsonObject,
  ownField,
  shortened,
  type Resource,
  type SpecOf,
} from '@causeway/resources';
import type { IndexReader } from '@causeway/store';

/** The spec of a Mesh. */
export type MeshSpec = SpecOf<typeof Mesh>;

/** Parses YAML or JSON text; throws an Error with the reason and the position if the text is invalid. */
export type ParseText = (text: string) => unknown;

/**
 * The settings that a Mesh references, or why there are none: the message of its condition Accepted, reason
 * InvalidParameters.
 */
export type ParametersResult =
  { readonly ok: true; readonly parameters: MeshParametersSpec } | { readonly ok: false; readonly message: string };

type ParametersRef = NonNullable<MeshSpec['parametersRef']>;

const OWN_GROUP = 'causeway.io';
const NONE: ParametersResult = { ok: true, parameters: {} };

/**
 * Reads the settings that `parametersRef` names (rows T000-08, T000-30 to T000-34): a MeshParameters of our group
 * without a namespace, or a ConfigMap with one. A version in the group is ignored.
 */
export function readParameters(
  ref: ParametersRef | undefined,
  index: Pick<IndexReader, 'get'>,
  parse: ParseText,
): ParametersResult {
  if (!ref) return NONE;
  const { kind, name, namespace = '' } = ref;
  const [group = ''] = (ref.group ?? '').split('/');
  if (kind === 'MeshParameters' && group === OWN_GROUP) {
    if (namespace !== '') return fault(`${kind} has no namespaces, and parametersRef.namespace is "${namespace}"`);
    const found = index.get(globalIdentity(kind, name));
    return found ? checked(found.spec, describe(ref)) : missing(ref);
  }
  if (kind === 'ConfigMap' && group === '') {
    if (namespace === '') return fault('a ConfigMap has a namespace, and parametersRef.namespace is absent');
    const found = index.get({ ...globalIdentity(kind, name), namespace });
    return found ? ofConfigMap(found, ref, parse) : missing(ref);
  }
  return fault(
    `parametersRef names ${describe(ref)}: only MeshParameters (group ${OWN_GROUP}) and ConfigMap (group "") are supported`,
  );
}

function ofConfigMap({ spec }: Resource, ref: ParametersRef, parse: ParseText): ParametersResult {
  const data = spec['data'];
  const text = isJsonObject(data) ? ownField(data, PARAMETERS_KEY) : undefined;
  if (typeof text !== 'string') return fault(`${describe(ref)} has no key "${PARAMETERS_KEY}"`);
  try {
    return checked(parse(text) ?? {}, `"${PARAMETERS_KEY}" of ${describe(ref)}`);
  } catch (error) {
    return fault(`"${PARAMETERS_KEY}" of ${describe(ref)} is not YAML: ${error instanceof Error ? error.message : ''}`);
  }
}

function checked(spec: unknown, source: string): ParametersResult {
  if (isMeshParameters(spec)) return { ok: true, parameters: spec };
  const [violation, ...more] = checkMeshParameters(spec, FieldPath.at());
  const others = more.length > 0 ? `, and ${more.length} more` : '';
  return fault(`${source}: ${[violation?.field, violation?.reason].filter(Boolean).join(' ')}${others}`);
}

function missing(ref: ParametersRef): ParametersResult {
  return fault(`parametersRef names ${describe(ref)}, which does not exist`);
}

function fault(message: string): ParametersResult {
  return { ok: false, message: shortened(message, 1_024) };
}

function describe({ group, kind, namespace, name }: ParametersRef): string {
  const path = [namespace, name].filter(Boolean).join('/');
  return `${kind} "${path}"${group ? ` of group "${group}"` : ''}`;
}
