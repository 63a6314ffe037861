import { Unauthenticated, type DataplaneTokens, type ZoneProxyTokens } from '@causeway/access';
import { isMeshAuthorityKey, changesWorkloadIds } from '@causeway/identity';
import { Enrolment, WorkloadRevocation } from '@causeway/kinds';
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
import { findProxyId, quoteText, formatTokenName, getToken } from './proxy-callers';
import {
  joinCertificates,
  type CertificateStatus,
  type ProxyCertificate,
  type ProxyCertificates,
} from './proxy-certificates';
import { readProxyNode, type ProxyNode } from './proxy-node';
import { bindingFacts, dataplaneProxyId, DEFAULT_NAMESPACE, ProxyViews, zoneProxyId } from './proxy-views';

/** Dependencies of a `ZoneProxyAuthenticator`. */
export interface ZoneProxyAuthenticatorOptions extends DataplaneAuthenticatorOptions {
  readonly index: IndexReader;
  readonly dataplaneTokens: Pick<DataplaneTokens, 'verify' | 'onChange'>;
  readonly zoneTokens: Pick<ZoneProxyTokens, 'verify' | 'onChange'>;
  readonly certificates: ProxyCertificates;
  readonly registrar: Pick<DataplaneRegistrar, 'register' | 'scheduleRemoval'>;
  /** Called when the view's certificate has changed; for an egress, the one in `mesh`. */
  readonly renewed: (view: EnvoyView, mesh?: string) => void;
  /** `all`: every proxy that captures connections is sent every service of its mesh (CAUSEWAY_XDS_SCOPE). */
  readonly scope: 'used' | 'all';
}

const NOTHING: ReadonlySet<string> = new Set();
/** Kinds whose changes may end trust in a certificate. */
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
 * Admits the proxies of one zone: Dataplanes by a workload certificate or dataplane token, zone proxies by a zone token
 * with their scope. A proxy is reviewed, and rejected if it may no longer connect, after changes of keys or revocations
 * and of its own Dataplane, ZoneIngress or ZoneEgress.
 */
export class ZoneProxyAuthenticator implements ProxyAuthenticator<EnvoyView> {
  private readonly views: ProxyViews = new ProxyViews((proxy) =>
    this.options.registrar.scheduleRemoval(proxy, () => this.views.has(proxy)),
  );
  /** Proxies that were admitted by a certificate. */
  private readonly certified = new Set<string>();

  /** Authenticates callers as Dataplanes of this zone. */
  readonly dataplanes: DataplaneAuthenticator;

  constructor(private readonly options: ZoneProxyAuthenticatorOptions) {
    this.dataplanes = new DataplaneAuthenticator(options);
  }

  /**
   * Rejects with Unauthenticated (no valid credentials), Forbidden (credentials of another owner), NotFound (no such
   * Dataplane), Invalid (an invalid node), Unavailable.
   */
  async admit(caller: ProxyCaller): Promise<AdmittedProxy<EnvoyView>> {
    const node = readProxyNode(caller);
    const token = getToken(caller, node);
    const isCertified = node.type === 'dataplane' && caller.certificate !== undefined;
    if (token === '' && !isCertified)
      throw new Unauthenticated(`metadata "authorization": must have a ${formatTokenName(node)}`);
    if (node.type !== 'dataplane') return this.admitZoneProxy(node, token);
    return this.admitDataplane(node, { token, certificate: caller.certificate }, caller);
  }

  /**
   * Returns the spec of the Dataplane, ZoneIngress or ZoneEgress whose proxy will be started. Rejects as `admit` does;
   * a Dataplane that the proxy registers is written when its stream begins.
   */
  async authoriseStart({ proxyType: type, mesh, name, token, document }: BootstrapRequest): Promise<JsonObject> {
    if (type !== 'dataplane') {
      await this.options.zoneTokens.verify(token, type);
      return this.getZoneProxy(type, name).spec;
    }
    const { binding } = await this.dataplanes.verifyToken({ mesh }, token);
    if (document !== undefined) return readDocument({ document, mesh, name }).spec;
    const { spec } = this.dataplanes.findBoundDataplane({ mesh, name }, binding);
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

  /** The views of all connected proxies. */
  listViews(): Iterable<EnvoyView> {
    return this.views.all();
  }

  /** Returns the certificate of a connected proxy; undefined if it has none from this control plane. */
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
      if (changesWorkloadIds(change, zone) || meshOfAuthority(change) !== undefined || isMeshAuthorityKey(id))
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
    // A connected proxy has registered, so the loss of its Dataplane ends its streams.
    if (document !== undefined && !this.views.has(known)) {
      if (!token) throw new Forbidden('a proxy that registers its Dataplane must have a dataplane token');
      await this.options.registrar.register(known, { mesh, name, document, credential: token, until, address });
    }
    const dataplane = this.dataplanes.findBoundDataplane(node, binding);
    await this.dataplanes.tryEnrol(dataplane, token);
    const proxy = dataplaneProxyId(dataplane.id);
    if (shown.certificate) this.certified.add(proxy);
    const listed = this.listInitialResources(node);
    const { capture, key, wire, systemAuthorities, isAgent = false, resolvesNames = false } = node;
    // Includes the uid: a resource that was deleted and created again is sent in full, not as a change.
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
    if (!at)
      throw new NotFound(`${resource.id.kind} ${quoteText(name)}: spec.networking.address must be an IP address`);
    const proxy = zoneProxyId(type, name);
    const { view, release } = this.views.hold({ proxy, facts: [at, node] }, () =>
      node.type === 'egress' ? this.egressView(node, at) : { view: ingressView(node, at) },
    );
    return { proxy: { id: proxy, view, owner: resource.id }, until, release };
  }

  /** Returns the stored ZoneIngress or ZoneEgress of a zone proxy. Throws NotFound. */
  private getZoneProxy(type: ZoneProxyNode['type'], name: string): Resource {
    const kind = ZONE_PROXY_KINDS[type];
    const found = this.options.index.get({ kind, mesh: '', zone: this.options.zone, namespace: '', name });
    if (found) return found;
    throw new NotFound(`there is no ${kind} ${quoteText(name)} in this zone`);
  }

  /** An egress gets a certificate in each mesh that uses it, when it first subscribes to it. */
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
    return key.type === 'none' ? { view } : { view, certificate: joinCertificates(held) };
  }

  /** Returns which resources a proxy is sent from the start. */
  private listInitialResources({ capture }: DataplaneNode): EnvoyView['listed'] {
    if (!capture) return NOTHING;
    return this.options.scope === 'all' ? 'all' : 'declared';
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
