import { Unauthenticated, type DataplaneTokens, type ZoneProxyTokens } from '@causeway/access';
import { isMeshAuthorityKey, movesWorkloadIds } from '@causeway/identity';
import { Enrolment, WorkloadRevocation } from '@causeway/kinds';
import type { DataplaneResource } from '@causeway/dataplanes';
import { Forbidden, isJsonObject, NotFound, type Identity, type JsonObject, type Resource } from '@causeway/resources';
import { followIndex, type IndexChange, type IndexReader } from '@causeway/store';
import {
  tcpPassthroughReason,
  type EnvoyView,
  meshOfAuthority,
  socketAddress,
  type SocketAddress,
} from '@causeway/xds-translation';
import type { AdmittedProxy, ProxyAuthenticator, ProxyCaller } from '@causeway/xds-server';
import type { BootstrapRequest } from '../bootstrap/bootstrap-request';
import {
  DataplaneAuthenticator,
  type DataplaneAuthenticatorOptions,
  type ShownCredentials,
  type VerifiedClaims,
} from './dataplane-authenticator';
import { readDocument, type DataplaneRegistrar } from './dataplane-registrar';
import { findProxyId, quoted, tokenName, getToken } from './proxy-callers';
import {
  joinedCertificates,
  type CertificateStatus,
  type ProxyCertificate,
  type ProxyCertificates,
} from './proxy-certificates';
import { readProxyNode, type ProxyNode } from './proxy-node';
import { bindingFacts, dataplaneProxyId, DEFAULT_NAMESPACE, ProxyViews, zoneProxyId } from './proxy-views';

/** Inputs of the admission of proxies. */
export interface ZoneProxyAuthenticatorOptions extends DataplaneAuthenticatorOptions {
  readonly index: IndexReader;
  readonly dataplaneTokens: Pick<DataplaneTokens, 'verify' | 'onChange'>;
  readonly zoneTokens: Pick<ZoneProxyTokens, 'verify' | 'onChange'>;
  readonly certificates: ProxyCertificates;
  readonly registrar: Pick<DataplaneRegistrar, 'register' | 'left'>;
  /** The view's certificate is another; of an egress, the one in `mesh`. */
  readonly renewed: (view: EnvoyView, mesh?: string) => void;
  /** `all`: every proxy that catches connections is sent every service of its mesh (CAUSEWAY_XDS_SCOPE). */
  readonly scope: 'used' | 'all';
  /** Destinations of a mesh: what `bind` without declared backends would listen at. */
  readonly destinations: (mesh: string) => number;
}

/** Most addresses that a proxy binds without having declared which: each is a listener of about 30 kB. */
const MAX_BOUND_ADDRESSES = 2_000;

const NOTHING: ReadonlySet<string> = new Set();
/** Kinds of which a change may end the belief in a certificate. */
export const TRUST_SOURCES: ReadonlySet<string> = new Set([
  'Mesh',
  'MeshParameters',
  'ConfigMap',
  'MeshTrust',
  'MeshIdentity',
  WorkloadRevocation.name,
]);
const ZONE_PROXY_KINDS = { ingress: 'ZoneIngress', egress: 'ZoneEgress' } as const;

type DataplaneNode = ProxyNode & { readonly type: 'dataplane' };
type ZoneProxyNode = Exclude<ProxyNode, DataplaneNode>;
type EgressNode = ProxyNode & { readonly type: 'egress' };
type IngressNode = ProxyNode & { readonly type: 'ingress' };

/**
 * Admits the proxies of one zone: of Dataplanes by the certificate of their workload, or a dataplane token that holds for the stored
 * Dataplane, zone proxies by a zone token of their scope. A proxy that may no longer connect is rejected when it is asked about again: after a change of keys or
 * revocations, and after a change of its own Dataplane, ZoneIngress or ZoneEgress.
 */
export class ZoneProxyAuthenticator implements ProxyAuthenticator<EnvoyView> {
  private readonly views: ProxyViews = new ProxyViews((proxy) =>
    this.options.registrar.left(proxy, () => this.views.has(proxy)),
  );
  /** Proxies that were admitted by a certificate. */
  private readonly certified = new Set<string>();

  /** Proves that callers are of a Dataplane of this zone. */
  readonly dataplanes: DataplaneAuthenticator;

  constructor(private readonly options: ZoneProxyAuthenticatorOptions) {
    this.dataplanes = new DataplaneAuthenticator(options);
  }

  /**
   * Rejects with Unauthenticated (no token, or none that is valid), Forbidden (of somebody else), NotFound (no such Dataplane),
   * Invalid (a node that says something impossible), Unavailable.
   */
  async admit(caller: ProxyCaller): Promise<AdmittedProxy<EnvoyView>> {
    const node = readProxyNode(caller);
    const token = getToken(caller, node);
    const isCertified = node.type === 'dataplane' && caller.certificate !== undefined;
    if (token === '' && !isCertified)
      throw new Unauthenticated(`metadata "authorization": must have a ${tokenName(node)}`);
    if (node.type !== 'dataplane') return this.admitZoneProxy(node, token);
    return this.admitDataplane(node, { token, certificate: caller.certificate }, caller);
  }

  /**
   * The spec of the Dataplane, ZoneIngress or ZoneEgress whose proxy is to be started. Rejects as `admit` does; a Dataplane that the
   * proxy brings along is written when its stream begins.
   */
  async authoriseStart({ proxyType: type, mesh, name, token, document }: BootstrapRequest): Promise<JsonObject> {
    if (type !== 'dataplane') {
      await this.options.zoneTokens.verify(token, type);
      return this.getZoneProxy(type, name).spec;
    }
    const { binding } = await this.dataplanes.verifyToken({ mesh }, token);
    if (document !== undefined) return readDocument({ document, mesh, name }).spec;
    const { spec } = this.dataplanes.bound({ mesh, name }, binding);
    const value: unknown = JSON.parse(JSON.stringify(spec));
    return isJsonObject(value) ? value : {};
  }

  onChange(listener: (proxies?: Iterable<string>) => void): () => void {
    const { dataplaneTokens, zoneTokens, index, certificates } = this.options;
    const stops = [
      dataplaneTokens.onChange(() => listener()),
      zoneTokens.onChange(() => listener()),
      followIndex(index, {
        reload: () => {
          certificates.reviewIds();
          listener();
        },
        apply: (changes) => this.observe(changes, listener),
      }),
    ];
    return () => stops.forEach((stop) => stop());
  }

  /** Of a connected proxy; undefined where it has none from this control plane. */
  findCertificate(proxy: string): CertificateStatus | undefined {
    return this.views.findCertificate(proxy);
  }

  private observe(changes: readonly IndexChange[], listener: (proxies?: Iterable<string>) => void): void {
    const { zone, certificates } = this.options;
    const proxies = new Set<string>();
    const relabelled: Identity[] = [];
    let areAllIdsStale = false;
    let isTrustStale = false;
    for (const change of changes) {
      const { id, before, after } = change;
      isTrustStale ||= TRUST_SOURCES.has(id.kind);
      if (id.kind === Enrolment.name && id.zone === zone && before && before.uid !== after?.uid) {
        const proxy = dataplaneProxyId(id);
        if (this.views.has(proxy)) proxies.add(proxy);
      }
      if (movesWorkloadIds(change, zone) || meshOfAuthority(change) !== undefined || isMeshAuthorityKey(id))
        areAllIdsStale = true;
      const proxy = id.zone === zone ? findProxyId(id) : undefined;
      if (proxy === undefined || !this.views.has(proxy)) continue;
      if (before?.labels !== after?.labels) relabelled.push(id);
      proxies.add(proxy);
    }
    if (areAllIdsStale) certificates.reviewIds();
    else if (relabelled.length > 0) certificates.reviewIds(relabelled);
    if (isTrustStale) for (const proxy of this.stillCertified()) proxies.add(proxy);
    if (proxies.size > 0) listener(proxies);
  }

  private *stillCertified(): Iterable<string> {
    for (const proxy of this.certified) {
      if (this.views.has(proxy)) yield proxy;
      else this.certified.delete(proxy);
    }
  }

  private async admitDataplane(
    node: DataplaneNode,
    shown: ShownCredentials,
    { address }: ProxyCaller,
  ): Promise<AdmittedProxy<EnvoyView>> {
    const { token, binding, expiresAt: until, certificate } = await this.dataplanes.verify(node, shown);
    const { mesh, name, document } = node;
    const known = dataplaneProxyId({ mesh, namespace: DEFAULT_NAMESPACE, name });
    // A proxy that is connected has registered: that its Dataplane is gone ends its streams.
    if (document !== undefined && !this.views.has(known)) {
      if (!token) throw new Forbidden('a Dataplane is brought along with a dataplane token only');
      await this.options.registrar.register(known, { mesh, name, document, credential: token, until, address });
    }
    const dataplane = this.dataplanes.bound(node, binding);
    await this.dataplanes.enrolSoon(dataplane, token);
    const proxy = dataplaneProxyId(dataplane.id);
    if (shown.certificate) this.certified.add(proxy);
    const listed = this.listed(node, dataplane);
    const { capture, key, wire, systemAuthorities, isAgent = false, resolvesNames = false } = node;
    // With its uid: one that was deleted and made again in between is sent everything, not what has changed.
    const facts = [
      dataplane.uid,
      capture ?? null,
      wire ?? null,
      systemAuthorities ?? null,
      key,
      bindingFacts(binding),
      isAgent,
      resolvesNames,
    ];
    const { view, release } = this.views.hold({ proxy, facts }, () =>
      this.dataplaneView(node, { dataplane: dataplane.id, listed, binding, certificate }),
    );
    const reason = tcpPassthroughReason(view);
    const owner = { owner: dataplane.id, ...(reason !== undefined && { tcpPassthroughReason: reason }) };
    return { proxy: { id: proxy, view, ...owner }, until, release };
  }

  private dataplaneView(
    { mesh, capture, key, wire, systemAuthorities, isAgent, resolvesNames }: DataplaneNode,
    of: { readonly dataplane: Identity; readonly listed: EnvoyView['listed'] } & Pick<
      VerifiedClaims,
      'binding' | 'certificate'
    >,
  ): { readonly view: EnvoyView; readonly certificate?: ProxyCertificate } {
    const { certificates, renewed } = this.options;
    const { dataplane, listed, binding, certificate: shown } = of;
    const shared = {
      mesh,
      listed,
      dataplane,
      ...(capture && { capture }),
      ...(wire && { wire }),
      ...(systemAuthorities !== undefined && { systemAuthorities }),
      ...(isAgent && { isAgent }),
      ...(resolvesNames && { resolvesNames }),
    };
    if (key.type === 'none') return { view: shared };
    const view: EnvoyView = { ...shared, identity: () => certificate.current() };
    const certificate = certificates.enrol({
      owner: { type: 'dataplane', dataplane, binding },
      key,
      ...(shown && { shown }),
      renewed: () => renewed(view),
    });
    return { view, certificate };
  }

  private async admitZoneProxy(node: ZoneProxyNode, token: string): Promise<AdmittedProxy<EnvoyView>> {
    const { type, name } = node;
    const until = await this.options.zoneTokens.verify(token, type);
    const resource = this.getZoneProxy(type, name);
    const { networking } = resource.spec;
    const at = isJsonObject(networking) ? socketAddress(networking['address'], networking['port']) : undefined;
    if (!at) throw new NotFound(`${resource.id.kind} ${quoted(name)}: spec.networking.address must be an IP address`);
    const proxy = zoneProxyId(type, name);
    const { view, release } = this.views.hold({ proxy, facts: [at, node] }, () =>
      node.type === 'egress' ? this.egressView(node, at) : { view: ingressView(node, at) },
    );
    return { proxy: { id: proxy, view, owner: resource.id }, until, release };
  }

  /** The stored ZoneIngress or ZoneEgress of a zone proxy. Throws NotFound. */
  private getZoneProxy(type: ZoneProxyNode['type'], name: string): Resource {
    const kind = ZONE_PROXY_KINDS[type];
    const found = this.options.index.get({ kind, mesh: '', zone: this.options.zone, namespace: '', name });
    if (found) return found;
    throw new NotFound(`there is no ${kind} ${quoted(name)} in this zone`);
  }

  /** An egress has a certificate in each mesh that leaves through it, from the first time that it is asked for. */
  private egressView(
    { key, systemAuthorities }: EgressNode,
    at: SocketAddress,
  ): { readonly view: EnvoyView; readonly certificate?: ProxyCertificate } {
    const { certificates, renewed, zone } = this.options;
    const held = new Map<string, ProxyCertificate>();
    const view: EnvoyView = {
      mesh: '',
      listed: NOTHING,
      ...(systemAuthorities !== undefined && { systemAuthorities }),
      egress: {
        at,
        identity: (mesh) => {
          if (key.type === 'none') return undefined;
          let certificate = held.get(mesh);
          if (!certificate) {
            const owner = { type: 'egress', mesh, zone } as const;
            certificate = certificates.enrol({ owner, key, renewed: () => renewed(view, mesh) });
            held.set(mesh, certificate);
          }
          return certificate.current();
        },
      },
    };
    return key.type === 'none' ? { view } : { view, certificate: joinedCertificates(held) };
  }

  /** Returns what a proxy is sent from the start. */
  private listed({ mesh, capture }: DataplaneNode, { spec }: DataplaneResource): EnvoyView['listed'] {
    const { scope, destinations } = this.options;
    if (!capture) return NOTHING;
    if (scope === 'all') return 'all';
    const isDeclared = spec.networking.transparentProxying?.reachableBackends !== undefined;
    if (isDeclared || capture.type !== 'bind') return 'declared';
    const count = destinations(mesh);
    if (count > MAX_BOUND_ADDRESSES)
      throw new Forbidden(
        `capture "bind": mesh ${quoted(mesh)} has ${count} addresses, at most ${MAX_BOUND_ADDRESSES} are bound unless the Dataplane declares spec.networking.transparentProxying.reachableBackends`,
      );
    return 'declared';
  }
}

function ingressView({ isAgent, resolvesNames }: IngressNode, at: SocketAddress): EnvoyView {
  return {
    mesh: '',
    listed: NOTHING,
    ingress: at,
    ...(isAgent && { isAgent }),
    ...(resolvesNames && { resolvesNames }),
  };
}
