/**
 * The key in the metadata of an agent's node by which the agent declares that it resolves host names. Agents of older versions do not set it, and get
 * addresses.
 */
export const RESOLVES_NAMES = 'causeway.io/resolves-names';

/** The key in the metadata of an agent's node for the namespace that its id ends with. Control planes of older versions parse the id. */
export const NODE_NAMESPACE = 'causeway.io/namespace';
