/**
 * Inputs that were super-linear once, by entry point and shape: tried first in every run, whatever its seed. Findings of the fuzzer are added here.
 */
export const EXAMPLES: readonly (readonly [entry: string, shape: string])[] = [
  ['hostname template: check', '"{{"×n'],
  ['hostname template: parse, render', '"{{"×n'],
  ['hostname template: check', '"{{ label \\""×n'],
  ['hostname template: what a hostname needs', 'different labels with "-" between them'],
  ['hostname template: what a hostname needs', '"__"×n'],
  ['HostnameGenerator in JSON', 'spec.template: "{{"×n'],
  ['MeshService in JSON', 'spec.ports: list of {}'],
  ['MeshService in JSON', 'spec.ports: list of equal items'],
  ['MeshService in JSON', 'unknown fields'],
  ['MeshService in JSON', 'labels: many'],
  ['MeshMultiZoneService in JSON', 'spec.ports[0]: object of misspelt fields'],
  ['MeshExternalService in JSON', 'spec.endpoints: list of texts'],
  ['any kind in YAML', 'MeshExternalService: spec.endpoints: list of texts'],
  ['YAML (above 8 KiB in a thread)', '"\\""×n'],
  ['YAML (above 8 KiB in a thread)', '"!!str "×n'],
  ['YAML (above 8 KiB in a thread)', '"{{ name }}"×n'],
  ['KDS MeshService from Causeway', 'many labels'],
  ['KDS MeshService from Causeway', 'one resource, spec.ports: list of {}'],
  ['KDS response from Causeway', 'many gone'],
  ['DNS packet', 'a chain of pointers'],
];
