import { toDocument, type DocumentFormat } from '@causeway/admission';
import { isJsonObject, type JsonObject, type Registry, type Resource } from '@causeway/resources';

/** Longer texts are made anew each time: kept, large resources would take their memory twice. */
const LONGEST_KEPT = 64 * 1024;

/**
 * Resources as JSON text. A resource never changes in place, so the text that lists and watches show of it is made
 * once and kept as long as the resource; a list of thousands is then a join of strings.
 */
export class ResourceJson {
  private readonly kept = new WeakMap<Resource, string>();

  constructor(private readonly registry: Registry) {}

  /** As lists and watches show it: the values of confidential kinds are left out (design.md §6). */
  listed(resource: Resource, form: DocumentFormat['form'] = 'universal'): string {
    if (form === 'k8s') return this.encode(resource, { form, redacted: true });
    const known = this.kept.get(resource);
    if (known !== undefined) return known;
    const text = this.encode(resource, { redacted: true });
    if (text.length <= LONGEST_KEPT) this.kept.set(resource, text);
    return text;
  }

  /** As a GET of one shows it. */
  encode(resource: Resource, format: DocumentFormat = {}): string {
    return JSON.stringify(this.document(resource, format));
  }

  private document(resource: Resource, format: DocumentFormat): JsonObject {
    const kind = this.registry.kind(resource.id.kind);
    if (!kind) throw new Error(`the store holds the kind ${resource.id.kind}, which the registry does not know`);
    const document = toDocument(kind, resource, format);
    return isJsonObject(document['status']) ? { ...document, status: withConnected(document['status']) } : document;
  }
}

/**
 * `connected` is filled in when read (design.md §1): what a zone has reported of its service stands; no data plane
 * connects to this control plane, so of its own services none is connected.
 */
function withConnected(status: JsonObject): JsonObject {
  const proxies = status['dataplaneProxies'];
  if (!isJsonObject(proxies)) return status;
  return { ...status, dataplaneProxies: { ...proxies, connected: proxies['connected'] ?? 0 } };
}
