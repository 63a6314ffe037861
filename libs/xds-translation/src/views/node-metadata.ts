/** In the metadata of an agent's node: it resolves host names. An agent of an older version does not say so, and gets addresses. */
export const RESOLVES_NAMES = 'causeway.io/resolves-names';

/** In the metadata of an agent's node: the namespace that its id ends with. A control plane of an older version goes by the id. */
export const NODE_NAMESPACE = 'causeway.io/namespace';
