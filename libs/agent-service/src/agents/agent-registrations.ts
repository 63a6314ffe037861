import type { X509Certificate } from 'node:crypto';
import { Unauthenticated, type DataplaneTokens } from '@causeway/access';
import { LEASED_BY, REGISTERED_BY } from '@causeway/controllers';
import { type DataplaneResource } from '@causeway/dataplanes';
import { bindingProblem, servicesProblem, type Enrolments } from '@causeway/identity';
import { Dataplane } from '@causeway/kinds';
import { FieldPath, Forbidden, NotFound, type Identity } from '@causeway/resources';
import type { IndexReader, LeaseKey } from '@causeway/store';
import type { DataplaneRegistrarOptions } from '../proxies/dataplane-registrar';
import type { PeerCertificates } from '../proxies/peer-certificates';
import { checkedDataplane, onlyThis, registrationContext } from '../proxies/registration-rights';
import type { WantedDataplane } from './attach-messages';

/** By what an agent is recognised. */
export interface AgentCredentials {
  /** The dataplane token; empty where there is none. */
  readonly token: string;
  /** The certificate that it showed in its TLS handshake, unverified. */
  readonly certificate?: X509Certificate | undefined;
  readonly address: string;
}

/** That an agent may write one Dataplane. */
export interface RegistrationRight {
  readonly tokenId: string;
  /** ms since 1970. */
  readonly until: number;
  readonly address: string;
  /** The services that were granted; undefined where nothing restricts them. */
  readonly services: readonly string[] | undefined;
}

export interface AgentRegistrationsOptions {
  readonly zone: string;
  readonly index: IndexReader;
  readonly dataplaneTokens: Pick<DataplaneTokens, 'verify'>;
  readonly peers: Pick<PeerCertificates, 'verify'>;
  readonly enrolments: Pick<Enrolments, 'join' | 'certified' | 'checkServices'>;
  /** The SPIFFE id that a Dataplane is to have; undefined where no MeshIdentity selects it. */
  readonly listIds: (dataplane: DataplaneResource) => readonly string[];
  readonly admission: DataplaneRegistrarOptions['admission'];
}

/** A proxy has brought the Dataplane along: it has an owner. */
export class BroughtByProxy extends Forbidden {}

/** Dataplanes of agents: who may write them, and the writes. All by the right of the agent's credentials. */
export class AgentRegistrations {
  constructor(private readonly options: AgentRegistrationsOptions) {}

  /**
   * Checks that the credentials hold for the Dataplane as it is to be, and for the stored one unless its lease is held already; a token
   * enrols it. Rejects with Unauthenticated, Invalid, Forbidden, Unavailable.
   */
  async authorise(
    key: LeaseKey,
    { labels, spec }: Pick<WantedDataplane, 'labels' | 'spec'>,
    credentials: AgentCredentials,
    isHeld: boolean,
  ): Promise<RegistrationRight> {
    const wanted = checkedDataplane({ id: this.toIdentity(key), labels, spec }, FieldPath.at('spec'));
    const found = isHeld ? undefined : this.options.index.get(this.toIdentity(key));
    const stored = found && Dataplane.is(found) ? found : undefined;
    const { token, certificate } = credentials;
    if (!certificate) return this.byToken(wanted, stored, credentials);
    try {
      return await this.byCertificate(wanted, stored, certificate, credentials);
    } catch (error) {
      if (token === '') throw error;
      return this.byToken(wanted, stored, credentials);
    }
  }

  private async byToken(
    wanted: DataplaneResource,
    stored: DataplaneResource | undefined,
    { token, address }: AgentCredentials,
  ): Promise<RegistrationRight> {
    if (token === '') throw new Unauthenticated('metadata "authorization": must have a dataplane token');
    const { dataplaneTokens, enrolments } = this.options;
    const credential = await dataplaneTokens.verify(token);
    const { id: tokenId, binding, expiresAt: until } = credential;
    const problem = bindingProblem(binding, wanted) ?? (binding.services && servicesProblem(binding.services, wanted));
    if (problem !== undefined) throw new Forbidden(`the dataplane token ${problem}`);
    const other = stored && bindingProblem(binding, stored);
    if (other !== undefined)
      throw new Forbidden(`the dataplane token does not hold for the stored Dataplane: ${other}`);
    const services = enrolments.checkServices(wanted, await enrolments.join(wanted.id, credential, false));
    return { tokenId, until, address, services };
  }

  private async byCertificate(
    wanted: DataplaneResource,
    stored: DataplaneResource | undefined,
    certificate: X509Certificate,
    { address }: AgentCredentials,
  ): Promise<RegistrationRight> {
    const { peers, listIds, enrolments } = this.options;
    const { uri, enrolment, expiresAt: until } = peers.verify(certificate, wanted.id.mesh);
    for (const dataplane of stored ? [wanted, stored] : [wanted]) {
      const ids = listIds(dataplane);
      const [id = 'nobody: no MeshIdentity selects it'] = ids;
      if (!ids.includes(uri)) throw new Forbidden(`the client certificate is of ${uri}, the Dataplane is ${id}`);
    }
    const services = enrolments.checkServices(wanted, await enrolments.certified(wanted.id, enrolment));
    return { tokenId: '', until, address, services };
  }

  /** Whether an agent may give up a Dataplane whose lease it does not hold. False: there is nothing of an agent to remove. */
  async mayRemove(key: LeaseKey, credentials: AgentCredentials): Promise<RegistrationRight | undefined> {
    const stored = this.options.index.get(this.toIdentity(key));
    if (!stored || !Dataplane.is(stored) || stored.labels[LEASED_BY] === undefined) return undefined;
    return this.authorise(key, { labels: stored.labels, spec: { ...stored.spec } }, credentials, true);
  }

  /** Throws BroughtByProxy where a proxy has brought the stored Dataplane along. */
  checkOwner(key: LeaseKey): void {
    const { index } = this.options;
    if (index.get(this.toIdentity(key))?.labels[REGISTERED_BY] !== undefined)
      throw new BroughtByProxy(
        `Dataplane ${key.name} was brought along by a proxy (kuma-dp); it goes when that one stops`,
      );
  }

  /** Resolves with the revision that has the Dataplane. Rejects with Invalid, NotFound (no such Mesh), Conflict, Unavailable. */
  async write(key: LeaseKey, wanted: WantedDataplane, instance: string, right: RegistrationRight): Promise<number> {
    const { admission } = this.options;
    const { mesh, name } = key;
    const { revision } = await admission(onlyThis(this.toIdentity(key))).put({
      body: { type: Dataplane.name, mesh, name, labels: { ...wanted.labels, [LEASED_BY]: instance }, ...wanted.spec },
      address: { kind: Dataplane, ...key },
      context: registrationContext({ ...key, ...right, holdsLease: true }),
      ...(right.services && { serverOwned: { grantedServices: [...right.services] } }),
    });
    return revision;
  }

  /** Resolves once the Dataplane is gone. Rejects with Conflict, Unavailable. */
  async remove(key: LeaseKey, right: RegistrationRight): Promise<void> {
    const request = {
      address: { kind: Dataplane, ...key },
      context: registrationContext({ ...key, ...right, holdsLease: true }),
    };
    await this.options
      .admission(onlyThis(this.toIdentity(key)))
      .delete(request)
      .catch((error: unknown) => {
        if (!(error instanceof NotFound)) throw error;
      });
  }

  /** Whether the Dataplane is stored, as far as the index of this replica knows. */
  isStored(key: LeaseKey): boolean {
    return this.options.index.get(this.toIdentity(key)) !== undefined;
  }

  private toIdentity({ mesh, namespace, name }: LeaseKey): Identity {
    return { kind: Dataplane.name, mesh, zone: this.options.zone, namespace, name };
  }
}
