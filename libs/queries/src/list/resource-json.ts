import { toDocument, type DocumentFormat } from '@causeway/admission';
import { undeclaredKind } from '@causeway/kinds';
import { isJsonObject, type JsonObject, type Registry, type Resource } from '@causeway/resources';

/** Longer texts are not cached: large resources would take their memory twice. */
const LONGEST_CACHED = 64 * 1024;

/**
 * Resources as JSON text. A Resource object never changes, so the text that lists and watches show is encoded once and
 * cached as long as the object lives; a list of thousands is then a join of strings.
 */
export class ResourceJson {
  private readonly cache = new WeakMap<Resource, string>();

  constructor(private readonly registry: Registry) {}

  /** As lists and watches show a resource: without the values of confidential kinds (docs/design.md §6). */
  listed(resource: Resource, format: DocumentFormat = {}): string {
    if (format.form === 'k8s') return this.encode(resource, { ...format, redacted: true });
    const cached = this.cache.get(resource);
    if (cached !== undefined) return cached;
    const text = this.encode(resource, { redacted: true });
    if (text.length <= LONGEST_CACHED) this.cache.set(resource, text);
    return text;
  }

  /** As a read of one resource shows it. */
  encode(resource: Resource, format: DocumentFormat = {}): string {
    return JSON.stringify(this.document(resource, format));
  }

  private document(resource: Resource, format: DocumentFormat): JsonObject {
    // A watch may show the last resources of a kind whose definition has gone.
    const kind = this.registry.kind(resource.id.kind) ?? undeclaredKind(resource.id.kind);
    const document = toDocument(kind, resource, format);
    return isJsonObject(document['status']) ? { ...document, status: withConnected(document['status']) } : document;
  }
}

/**
 * Fills in `connected` on reads (docs/design.md §1). A value that another zone reported of its service stays; no data
 * plane connects to this control plane, so `connected` of its own services is 0.
 */
function withConnected(status: JsonObject): JsonObject {
  const proxies = status['dataplaneProxies'];
  if (!isJsonObject(proxies)) return status;
  return { ...status, dataplaneProxies: { ...proxies, connected: proxies['connected'] ?? 0 } };
}
