import { Cluster, ClusterLoadAssignment, Listener } from '@causeway/proto-gen';
import { asDataplane, type DataplaneResource } from '@causeway/dataplanes';
import type { Identity } from '@causeway/resources';
import type { Destination, DestinationConfig } from '../model/destination';
import type { InboundAccessConfig } from '../access/inbound-access';
import { portsServedAt } from '../access/inbound-services';
import type { SocketAddress } from '../model/ingress-endpoint';
import { rateLimitFilters } from '../policies/rate-limits';
import { encodeResource, type RefusedResource } from '@causeway/xds-server';
import type { ExplicitOutbound, OutboundPlan } from '../dataplane/explicit-outbounds';
import { foreignInbounds, ownInbounds, servedInbounds, type Inbound, type ServedInbounds } from '../dataplane/inbound';
import { ingressAddresses, unservedListeners } from '../dataplane/zone-listeners';
import { serverNames } from '../tables/destination-table';
import type { EnvoyView } from '../views/envoy-view';
import { ingressCluster, processCluster } from '../messages/clusters';
import { localEndpoints } from '../messages/endpoints';
import { joinedFilters, type InboundFilters } from '../policies/inbound-filters';
import { inboundListener } from '../messages/inbound-listeners';
import { ingressListener } from '../messages/ingress-listener';
import * as outbound from '../messages/outbound-listeners';
import * as names from '../names/resource-names';
import { kept, type ResourceBuild, type TranslationOptions } from './resource-build';

const ABSENT = undefined;

/** Inputs of the translation of a Dataplane's own resources. */
export interface DataplaneTranslationOptions extends Pick<TranslationOptions, 'tables'> {
  /** Plans the filter for a view's connections to a destination; undefined if there is no destination of this name. */
  readonly filterTo: (
    view: EnvoyView,
    destination: string,
  ) => Parameters<typeof outbound.outboundListener>[2] | undefined;
}

/** Translates the resources that only the proxies of one Dataplane, or of one ingress, have: inbounds, ingresses, explicit outbounds. */
export class DataplaneTranslation {
  constructor(private readonly options: DataplaneTranslationOptions) {}

  /** Returns the inbounds that the view's proxies serve. */
  inbounds({ dataplane, isAgent }: EnvoyView): ServedInbounds {
    const served = servedInbounds(this.findDataplane(dataplane));
    return isAgent === true ? served : ownInbounds(served);
  }

  /**
   * Returns the addresses at which the view's proxies serve as an ingress: that of the zone, or of the mesh of a Dataplane with ZoneIngress
   * listeners.
   */
  ingresses({ ingress, dataplane }: EnvoyView): readonly SocketAddress[] {
    if (ingress) return [ingress];
    const found = this.findDataplane(dataplane);
    return found ? ingressAddresses(found) : [];
  }

  private findDataplane(id: Identity | undefined): DataplaneResource | undefined {
    return asDataplane(this.options.tables().dataplane(id));
  }

  /**
   * Returns the explicit outbounds of the view's Dataplane. Inbounds have precedence over outbounds with the same address; among outbounds the first
   * wins. `at`: plans this port only.
   */
  explicitOutbounds({ dataplane: id, capture, wire }: EnvoyView, at?: number): OutboundPlan {
    const found = wire === 'grpc' ? ABSENT : this.options.tables().dataplane(id);
    const dataplane = asDataplane(found);
    if (!found || !dataplane) return { served: new Map(), problems: [] };
    const taken = [
      ...servedInbounds(dataplane).all.flatMap(({ at, process }) => [at, process]),
      ...ingressAddresses(dataplane),
      ...(capture?.type === 'redirect' ? outbound.redirectSockets(capture) : []),
    ];
    return this.options.tables().explicit.plan(found, taken, at);
  }

  /** Lists the listeners that the view's Dataplane defines and does not get, with the reason. */
  unserved(view: EnvoyView): readonly RefusedResource[] {
    const { wire, isAgent } = view;
    const dataplane = wire === 'grpc' ? ABSENT : this.findDataplane(view.dataplane);
    if (!dataplane) return [];
    const foreign = isAgent === true ? [] : foreignInbounds(dataplane);
    return [...this.explicitOutbounds(view).problems, ...unservedListeners(dataplane), ...foreign];
  }

  /** Yields the server names of a destination at the view's proxies, if these are an ingress. */
  *serverNames(view: EnvoyView, destination: DestinationConfig): Iterable<string> {
    if (this.ingresses(view).length === 0) return;
    const { table } = this.options.tables();
    for (const sni of serverNames(destination)) {
      const { service } = table.configWithSni(sni) ?? {};
      if (service && (view.ingress || service.mesh === view.mesh)) yield sni;
    }
  }

  /** An ingress of one mesh serves no other mesh. */
  private withSni(view: EnvoyView, sni: string): Destination | undefined {
    const served = this.options.tables().table.withSni(sni);
    return view.ingress || served?.service.mesh === view.mesh ? served : undefined;
  }

  /** Plans the cluster of the process behind an inbound. */
  processCluster(view: EnvoyView, name: string): ResourceBuild | undefined {
    const inbound = this.inbounds(view).byCluster.get(name);
    return inbound && kept('view', (previous) => encodeResource(Cluster, processCluster(inbound), previous));
  }

  /** Plans the cluster of a server name at an ingress. */
  ingressCluster(view: EnvoyView, name: string, sni: string): ResourceBuild | undefined {
    const served = this.ingresses(view).length > 0 ? this.withSni(view, sni) : ABSENT;
    if (!served) return ABSENT;
    const options = { zone: this.options.tables().model.zone, withNames: view.resolvesNames === true };
    const plan = kept(view.ingress ? 'ingress' : 'view', (previous) =>
      encodeResource(Cluster, ingressCluster(name, served, options), previous),
    );
    return { ...plan, isByNames: served.localNames.length > 0 };
  }

  /** Plans the endpoints of a destination in this zone, for its ingress. */
  localEndpoints(view: EnvoyView, name: string, of: string): ResourceBuild | undefined {
    const { model } = this.options.tables();
    const found = this.ingresses(view).length > 0 ? model.destination(of) : ABSENT;
    const served = view.ingress || found?.service.mesh === view.mesh ? found : ABSENT;
    if (!served) return ABSENT;
    return kept(view.ingress ? 'ingress' : 'view', (previous) =>
      encodeResource(ClusterLoadAssignment, localEndpoints(served, model.zone), previous),
    );
  }

  /** Plans the listener of an ingress, an inbound or an explicit outbound. */
  listener(view: EnvoyView, name: string): ResourceBuild | 'pending' | undefined {
    const made = (fields: ReturnType<typeof ingressListener>): ResourceBuild =>
      kept('view', (previous) => encodeResource(Listener, fields, previous));
    const ingress = this.ingresses(view).find((at) => names.ingressListenerName(at) === name);
    if (ingress) return made(ingressListener(ingress, view.sourceLimits));
    const inbound = this.inbounds(view).byListener.get(name);
    if (inbound) return this.inboundListener(view, inbound);
    const explicit = this.explicitOutbound(view, name);
    const filter = explicit && this.options.filterTo(view, explicit.destination);
    return explicit && filter && made(outbound.outboundListener(name, explicit.at, filter));
  }

  private inboundListener(view: EnvoyView, inbound: Inbound): ResourceBuild | 'pending' {
    const access = this.accessTo(view, inbound);
    if (access === 'pending') return access;
    const fields = inboundListener(inbound, access, this.filtersAt(view, inbound));
    return kept('view', (last) => encodeResource(Listener, fields, last));
  }

  private accessTo({ dataplane }: EnvoyView, { at }: Inbound): InboundAccessConfig | 'pending' {
    const found = this.findDataplane(dataplane);
    return found ? this.options.tables().model.access.ofInbound(found, at.port) : 'pending';
  }

  /** Returns the filters that policies put before the process of an inbound. */
  private filtersAt(view: EnvoyView, { at }: Inbound): InboundFilters {
    const { model, backendPolicies } = this.options.tables();
    const dataplane = this.findDataplane(view.dataplane);
    const served = dataplane ? portsServedAt(dataplane, at.port, model.selecting(dataplane)) : [];
    const limits = backendPolicies.limitsAt(served);
    return joinedFilters([rateLimitFilters(names.inboundListenerName(at), limits)]);
  }

  /** Returns the outbound of a view whose listener has this name. */
  private explicitOutbound(view: EnvoyView, name: string): ExplicitOutbound | undefined {
    return this.explicitOutbounds(view, names.parseHostPort(name).port).served.get(name);
  }

  /** Reports whether an explicit outbound of the view's Dataplane has the address. */
  isTaken(view: EnvoyView, vip: string): boolean {
    return this.explicitOutbound(view, `explicit:${vip}`) !== undefined;
  }
}
