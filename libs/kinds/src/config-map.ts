import { Type } from 'typebox';
import { defineKind, Sync } from '@causeway/resources';
import { mapBounds, strict } from './schema/schema-parts';

/** Key of a ConfigMap that holds the parameters of a Mesh. */
export const PARAMETERS_KEY = 'parameters.yaml';

/** Maximum length of a value, characters: longer YAML would delay the control loops that parse it. */
const MAX_VALUE_LENGTH = 8 * 1024;

/**
 * Texts by name; used only as the target of a Mesh's `parametersRef`, whose settings are the YAML under the key
 * `parameters.yaml` (GEP-3949; rows T000-30 to T000-34).
 */
export const ConfigMap = defineKind({
  name: 'ConfigMap',
  plural: 'configmaps',
  shortName: 'cm',
  apiVersion: 'v1',
  scope: 'global',
  namespaced: true,
  sync: Sync.settings,
  writer: 'operator',
  bounds: { bytes: 64 * 1024 },
  spec: Type.Object(
    { data: Type.Record(Type.String(), Type.String({ maxLength: MAX_VALUE_LENGTH }), mapBounds) },
    { ...strict, examples: [{ data: { [PARAMETERS_KEY]: 'exportDefault: None' } }] },
  ),
  warn: ({ spec }) =>
    Object.hasOwn(spec.data, PARAMETERS_KEY)
      ? []
      : [`data: only the key ${PARAMETERS_KEY} is read, where the parametersRef of a Mesh names this ConfigMap`],
});
