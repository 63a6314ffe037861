import { Node } from '@causeway/proto-gen';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@causeway/resources';

/** Features in the node of every first request, of zones and globals (docs/reference/kds-wire.md §2.2). */
export const NODE_FEATURES = [
  'zone-token',
  'hash-suffix',
  'hg-mz-selector',
  'producer-policy-flow',
  'optional-top-level-target-ref',
] as const;

/**
 * Metadata of a control plane in the first request of a kind; a peer reads only the first one of a stream
 * (docs/reference/kds-wire.md §2.3).
 */
export interface NodeMetadata {
  readonly version: string;
  /** Sanitized configuration as JSON text; empty from the global. */
  readonly config: string;
  readonly controlPlaneId: string;
  readonly features: readonly string[];
}

/**
 * Encodes `node` of a request. `id` is the zone's name in both directions; only first requests have metadata
 * (docs/reference/kds-wire.md §2.2).
 */
export function encodeNode(id: string, metadata: NodeMetadata | undefined): Node {
  return { ...Node.create({ id }), metadata: metadata === undefined ? undefined : toStruct(metadata) };
}

/** Decodes the metadata of a node. Missing or malformed fields become empty: sync needs none of them. */
export function decodeNodeMetadata(node: Node | undefined): NodeMetadata | undefined {
  const metadata: unknown = node?.metadata;
  if (!isJsonObject(metadata)) return undefined;
  return {
    version: readVersion(metadata['version']),
    config: text(metadata['config']),
    controlPlaneId: text(metadata['control-plane-id']),
    features: isJsonArray(metadata['features']) ? metadata['features'].map(text) : [],
  };
}

function toStruct({ version, config, controlPlaneId, features }: NodeMetadata): JsonObject {
  return { version: { kumaCp: { version } }, config, 'control-plane-id': controlPlaneId, features };
}

function readVersion(version: JsonValue | undefined): string {
  const cp = isJsonObject(version) ? version['kumaCp'] : undefined;
  return isJsonObject(cp) ? text(cp['version']) : '';
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
