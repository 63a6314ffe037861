/**
 * The only door for user writes, on every interface: decode → defaults → labels → validate → authorise → store.
 * Also how users name resources and how resources are shown to them.
 *
 *   body → decodeDocument → validateDraft → Admission → ResourceStore;   Resource → toDocument → body
 */
export { Admission, type AdmissionParts } from './admission';
export { applyDefaults, type DefaultsParts } from './apply-defaults';
export { decodeDocument } from './document/decode-document';
export { type DecodedDocument, type Draft, type Target } from './document/document';
export { checkPrecondition, etagOf, PreconditionFailed } from './etag';
export { InUse } from './mesh-rules';
export { parseYaml, Unparsable, type TextPosition, type YamlDocument, type YamlLimits } from './yaml/parse-yaml';
export { toDocument, type DocumentFormat } from './document/render-document';
export {
  type DeleteOutcome,
  type DeleteRequest,
  type PatchRequest,
  type PutRequest,
  type WriteAddress,
  type WriteOptions,
  type WriteOutcome,
} from './requests';
export { identityNamed, resolveName, type NameQuery } from './resolve-name';
export { checkOperator, checkWritable, isWritable, quarantineCommand, type WriteContext } from './rights';
