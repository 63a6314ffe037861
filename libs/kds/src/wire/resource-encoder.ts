import type { ControlPlane, Resource } from '@causeway/resources';
import { ReverseWriter } from './reverse-writer';
import type { Dialect } from './dialect';
import type { KumaOptions } from '../kuma/translation';
import { toWireResource } from './outgoing';
import { isWithheldSecret, withPublicKeyOnly } from '../kuma/secrets';
import { encodeSpec, encodeStatus } from '../kuma/payload';
import { writeResource, type ResourceBytes } from './resource-bytes';
import type { WireKey, WireResource } from './wire-resource';

/** A resource as it leaves for all peers of one dialect. */
export interface EncodedResource extends ResourceBytes, WireKey {
  readonly kind: string;
}

/** A resource that a dialect cannot say is not sent; the reason belongs into a condition (design.md §5). */
export type Encoding =
  { readonly ok: true; readonly resource: EncodedResource } | { readonly ok: false; readonly reason: string };

/**
 * Encodes resources of one control plane, each once for each dialect: all streams share the bytes (design.md §5).
 * Remembered by object, as long as the object lives, so a changed resource must be a new object.
 */
export class ResourceEncoder {
  private readonly known = new WeakMap<Resource, Encoding[]>();
  private readonly out = new ReverseWriter();

  constructor(
    private readonly cp: ControlPlane,
    private readonly options: KumaOptions = { meshServicesMode: 'Everywhere' },
  ) {}

  /** The bytes of a resource of the store for peers of this dialect. */
  encode(resource: Resource, dialect: Dialect): Encoding {
    const encodings = this.encodingsOf(resource);
    const slot = (dialect.json ? 1 : 0) + (dialect.meta ? 2 : 0);
    return (encodings[slot] ??= this.encodeWire(toWireResource(resource, this.cp, dialect), dialect));
  }

  /** The bytes of a resource that is in no store, such as Config; not remembered. */
  encodeWire(wire: WireResource, dialect: Dialect): Encoding {
    try {
      if (isWithheldSecret(wire)) return { ok: false, reason: 'this secret never leaves its control plane' };
      const resource = withPublicKeyOnly(wire);
      const { kind, name, mesh } = resource;
      const said = {
        resource,
        spec: encodeSpec(resource, dialect, this.options),
        status: encodeStatus(resource, dialect),
      };
      return { ok: true, resource: { kind, name, mesh, ...writeResource(this.out, said) } };
    } catch (error) {
      return { ok: false, reason: error instanceof Error ? error.message : String(error) };
    }
  }

  private encodingsOf(resource: Resource): Encoding[] {
    const known = this.known.get(resource);
    if (known !== undefined) return known;
    const fresh: Encoding[] = [];
    this.known.set(resource, fresh);
    return fresh;
  }
}
