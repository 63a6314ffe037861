import { Node } from '@causeway/proto-gen';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@causeway/resources';

/** What a Causeway zone and global say they can in the node of every first request (kds.md §2.2, §4.2). */
export const NODE_FEATURES = [
  'zone-token',
  'hash-suffix',
  'hg-mz-selector',
  'producer-policy-flow',
  'optional-top-level-target-ref',
] as const;

/** What a control plane says of itself in its first request of a kind; only the first of a stream is read (kds.md §2.3). */
export interface NodeMetadata {
  readonly version: string;
  /** Sanitized configuration as JSON text; empty from the global. */
  readonly config: string;
  readonly controlPlaneId: string;
  readonly features: readonly string[];
}

/** `node` of a request: the zone's name in both directions, the metadata in first requests only (kds.md §2.2). */
export function encodeNode(id: string, metadata: NodeMetadata | undefined): Node {
  return { ...Node.create({ id }), metadata: metadata === undefined ? undefined : structOf(metadata) };
}

/** Missing or odd metadata is read as empty: nothing of it is needed to sync. */
export function decodeNodeMetadata(node: Node | undefined): NodeMetadata | undefined {
  const metadata: unknown = node?.metadata;
  if (!isJsonObject(metadata)) return undefined;
  return {
    version: versionOf(metadata['version']),
    config: text(metadata['config']),
    controlPlaneId: text(metadata['control-plane-id']),
    features: isJsonArray(metadata['features']) ? metadata['features'].map(text) : [],
  };
}

function structOf({ version, config, controlPlaneId, features }: NodeMetadata): JsonObject {
  return { version: { kumaCp: { version } }, config, 'control-plane-id': controlPlaneId, features };
}

function versionOf(version: JsonValue | undefined): string {
  const cp = isJsonObject(version) ? version['kumaCp'] : undefined;
  return isJsonObject(cp) ? text(cp['version']) : '';
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
