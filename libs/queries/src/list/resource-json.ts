import { toDocument, type DocumentFormat } from '@causeway/admission';
import { undeclaredKind } from '@causeway/kinds';
import { isJsonObject, type JsonObject, type Registry, type Resource } from '@causeway/resources';
import { withAffected, type AffectedOverlay, type AffectedStatus } from './affected-status';

/** Longer texts are not cached: they would double the memory of large resources. */
const MAX_CACHED_LENGTH = 64 * 1024;

/**
 * Encodes resources as JSON text. A Resource object never changes, so the text for lists and watches is encoded once
 * and cached as long as the object lives; a list of thousands is then a join of strings.
 */
export class ResourceJson {
  private readonly cache = new WeakMap<
    Resource,
    { readonly text: string; readonly overlay: AffectedOverlay | undefined }
  >();

  /** `affected` returns the overlay of policies; without it none is shown. */
  constructor(
    private readonly registry: Registry,
    private readonly affected?: Pick<AffectedStatus, 'of'>,
  ) {}

  /** Returns the overlay of a resource: its text is unchanged while this is the same object. */
  overlayOf(resource: Resource): AffectedOverlay | undefined {
    return this.affected?.of(resource);
  }

  /** Encodes a resource for lists and watches: without the values of confidential kinds (docs/design.md §6). */
  listed(resource: Resource, format: DocumentFormat = {}): string {
    if (format.form === 'k8s') return this.encode(resource, { ...format, redacted: true });
    const cached = this.cache.get(resource);
    const overlay = this.overlayOf(resource);
    if (cached && cached.overlay === overlay) return cached.text;
    const text = this.encode(resource, { redacted: true });
    if (text.length <= MAX_CACHED_LENGTH) this.cache.set(resource, { text, overlay });
    return text;
  }

  /** Encodes a resource for a read of one resource. */
  encode(resource: Resource, format: DocumentFormat = {}): string {
    return JSON.stringify(this.document(resource, format));
  }

  private document(resource: Resource, format: DocumentFormat): JsonObject {
    // A watch may send the last resources of a kind whose definition was deleted.
    const kind = this.registry.kind(resource.id.kind) ?? undeclaredKind(resource.id.kind);
    const document = withAffected(toDocument(kind, resource, format), this.overlayOf(resource));
    return isJsonObject(document['status']) ? { ...document, status: withConnected(document['status']) } : document;
  }
}

/**
 * Adds `connected` on reads (docs/design.md §1). A value that another zone reported for its service stays; no data
 * plane connects to this control plane, so `connected` of its own services is 0.
 */
function withConnected(status: JsonObject): JsonObject {
  const proxies = status['dataplaneProxies'];
  if (!isJsonObject(proxies)) return status;
  return { ...status, dataplaneProxies: { ...proxies, connected: proxies['connected'] ?? 0 } };
}
