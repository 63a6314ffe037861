import { Label, labelValue, type Labels } from './labels';

/** True for resources generated from another resource, which users edit instead. */
export const isGeneratedFrom = (labels: Labels): boolean => labelValue(labels, Label.generatedFrom) !== undefined;

/** Returns the name of the MeshService generated for a VirtualService, in the same namespace. */
export const frontendOfVirtualService = (name: string): string => `vs-${name}`;
