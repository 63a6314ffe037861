import { toDocument, type DocumentFormat } from '@causeway/admission';
import { undeclaredKind } from '@causeway/kinds';
import { isJsonObject, type JsonObject, type Registry, type Resource } from '@causeway/resources';
import { withAffected, type AffectedOverlay, type AffectedStatus } from './affected-status';

/** Longer texts are not cached: large resources would take their memory twice. */
const MAX_CACHED_LENGTH = 64 * 1024;

/**
 * Resources as JSON text. A Resource object never changes, so the text that lists and watches show is encoded once and
 * cached as long as the object lives; a list of thousands is then a join of strings.
 */
export class ResourceJson {
  private readonly cache = new WeakMap<
    Resource,
    { readonly text: string; readonly overlay: AffectedOverlay | undefined }
  >();

  /** `affected` knows what of the resources policies affect; without it nothing is shown of that. */
  constructor(
    private readonly registry: Registry,
    private readonly affected?: Pick<AffectedStatus, 'of'>,
  ) {}

  /** Returns the overlay of a resource: its text is unchanged while this is the same object. */
  overlayOf(resource: Resource): AffectedOverlay | undefined {
    return this.affected?.of(resource);
  }

  /** As lists and watches show a resource: without the values of confidential kinds (docs/design.md §6). */
  listed(resource: Resource, format: DocumentFormat = {}): string {
    if (format.form === 'k8s') return this.encode(resource, { ...format, redacted: true });
    const cached = this.cache.get(resource);
    const overlay = this.overlayOf(resource);
    if (cached && cached.overlay === overlay) return cached.text;
    const text = this.encode(resource, { redacted: true });
    if (text.length <= MAX_CACHED_LENGTH) this.cache.set(resource, { text, overlay });
    return text;
  }

  /** As a read of one resource shows it. */
  encode(resource: Resource, format: DocumentFormat = {}): string {
    return JSON.stringify(this.document(resource, format));
  }

  private document(resource: Resource, format: DocumentFormat): JsonObject {
    // A watch may show the last resources of a kind whose definition has gone.
    const kind = this.registry.kind(resource.id.kind) ?? undeclaredKind(resource.id.kind);
    const document = withAffected(toDocument(kind, resource, format), this.overlayOf(resource));
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
