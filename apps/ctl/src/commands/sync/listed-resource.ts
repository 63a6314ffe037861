import { parseKri } from '@causeway/naming';
import { isJsonObject, ownField, type JsonObject, type Kind, type Labels, type Resource } from '@causeway/resources';
import { objectAt, textAt } from '../../render';

/** The resource that an item of a list shows. What a list does not show is empty: it decides nothing about sync. */
export function resourceOfItem(kind: Kind, item: JsonObject): Resource {
  const labels = textLabels(objectAt(item, 'labels'));
  // Labels do not say the zone of identity: a copy in a zone has the origin `global` wherever it was made.
  const parsed = parseKri(textAt(item, 'kri'));
  const zone = parsed.ok && kind.sync.zoneInIdentity ? parsed.kri.zone : '';
  const status = ownField(item, 'status');
  return {
    ...{ uid: '', labels, spec: objectAt(item, 'spec'), generation: 0, creationOrder: 0, createdAt: 0, modifiedAt: 0 },
    ...{ revision: 0, origin: { incarnation: '', revision: 0, committedAt: 0 }, freed: [] },
    ...(isJsonObject(status) ? { status } : {}),
    id: {
      ...{ kind: kind.name, mesh: textAt(item, 'mesh'), zone },
      ...{ namespace: textAt(item, 'namespace'), name: textAt(item, 'name') },
    },
  };
}

function textLabels(labels: JsonObject): Labels {
  return Object.fromEntries(
    Object.entries(labels).flatMap(([key, value]) => (typeof value === 'string' ? [[key, value]] : [])),
  );
}
