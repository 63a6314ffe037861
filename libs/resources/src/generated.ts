import { Label, labelValue, type Labels } from './labels';

/** True for what is generated from another resource: users edit that one. */
export const isGeneratedFrom = (labels: Labels): boolean => labelValue(labels, Label.generatedFrom) !== undefined;

/** The name of the MeshService that answers for a VirtualService, in its namespace. */
export const frontendOfVirtualService = (name: string): string => `vs-${name}`;
