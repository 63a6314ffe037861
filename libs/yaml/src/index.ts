/** Texts of YAML and JSON, parsed within bounds (libs/yaml/README.md). */
export { JsonDocuments, type JsonDocument } from './json-documents';
export { parseYaml, Unparsable, type TextPosition, type YamlDocument } from './parse-yaml';
