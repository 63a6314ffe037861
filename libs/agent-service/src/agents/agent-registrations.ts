import type { X509Certificate } from 'node:crypto';
import { Unauthenticated, type DataplaneTokens } from '@causeway/access';
import { LEASED_BY, REGISTERED_BY } from '@causeway/controllers';
import { type DataplaneResource } from '@causeway/dataplanes';
import { findBindingProblem, findServicesProblem, type Enrolments } from '@causeway/identity';
import { Dataplane } from '@causeway/kinds';
import { FieldPath, Forbidden, NotFound, type Identity } from '@causeway/resources';
import type { IndexReader, LeaseKey } from '@causeway/store';
import type { DataplaneRegistrarOptions } from '../proxies/dataplane-registrar';
import type { PeerCertificates } from '../proxies/peer-certificates';
import { validateDraft, createRegistrationRights, registrationContext } from '../proxies/registration-rights';
import type { WantedDataplane } from './attach-messages';

/** Credentials of an agent. */
export interface AgentCredentials {
  /** Dataplane token; empty if there is none. */
  readonly token: string;
  /** Certificate of its TLS handshake, unverified. */
  readonly certificate?: X509Certificate | undefined;
  readonly address: string;
}

/** Right of an agent to write one Dataplane. */
export interface RegistrationRight {
  readonly tokenId: string;
  /** End of the right, ms since 1970. */
  readonly until: number;
  readonly address: string;
  /** Granted services; undefined: not restricted. */
  readonly services: readonly string[] | undefined;
}

export interface AgentRegistrationsOptions {
  readonly zone: string;
  readonly index: IndexReader;
  readonly dataplaneTokens: Pick<DataplaneTokens, 'verify'>;
  readonly peers: Pick<PeerCertificates, 'verify'>;
  readonly enrolments: Pick<Enrolments, 'join' | 'authoriseCertificate' | 'checkServices'>;
  /** Returns the SPIFFE ids that a Dataplane will have; undefined if no MeshIdentity selects it. */
  readonly listIds: (dataplane: DataplaneResource) => readonly string[];
  readonly admission: DataplaneRegistrarOptions['admission'];
}

/** A proxy registered the Dataplane itself, so it has another owner. */
export class RegisteredByProxy extends Forbidden {}

/** Authorises and writes Dataplanes of agents, by the rights of the agent's credentials. */
export class AgentRegistrations {
  constructor(private readonly options: AgentRegistrationsOptions) {}

  /**
   * Checks that the credentials are valid for the wanted Dataplane, and for the stored one unless its lease is held
   * already; a token enrols the machine. Rejects with Unauthenticated, Invalid, Forbidden, Unavailable.
   */
  async authorise(
    key: LeaseKey,
    { labels, spec }: Pick<WantedDataplane, 'labels' | 'spec'>,
    credentials: AgentCredentials,
    isHeld: boolean,
  ): Promise<RegistrationRight> {
    const wanted = validateDraft({ id: this.toIdentity(key), labels, spec }, FieldPath.at('spec'));
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
    const problem =
      findBindingProblem(binding, wanted) ?? (binding.services && findServicesProblem(binding.services, wanted));
    if (problem !== undefined) throw new Forbidden(`the dataplane token ${problem}`);
    const other = stored && findBindingProblem(binding, stored);
    if (other !== undefined) throw new Forbidden(`the dataplane token is not valid for the stored Dataplane: ${other}`);
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
    const services = enrolments.checkServices(wanted, await enrolments.authoriseCertificate(wanted.id, enrolment));
    return { tokenId: '', until, address, services };
  }

  /** Whether an agent may remove a Dataplane without its lease; false if no agent's Dataplane is stored. */
  async mayRemove(key: LeaseKey, credentials: AgentCredentials): Promise<RegistrationRight | undefined> {
    const stored = this.options.index.get(this.toIdentity(key));
    if (!stored || !Dataplane.is(stored) || stored.labels[LEASED_BY] === undefined) return undefined;
    return this.authorise(key, { labels: stored.labels, spec: { ...stored.spec } }, credentials, true);
  }

  /** Throws RegisteredByProxy if a proxy registered the stored Dataplane. */
  checkOwner(key: LeaseKey): void {
    const { index } = this.options;
    if (index.get(this.toIdentity(key))?.labels[REGISTERED_BY] !== undefined)
      throw new RegisteredByProxy(
        `Dataplane ${key.name} was registered by its proxy (kuma-dp) and is removed when that proxy stops`,
      );
  }

  /** Resolves with the revision that has it. Rejects with Invalid, NotFound (no Mesh), Conflict, Unavailable. */
  async write(key: LeaseKey, wanted: WantedDataplane, instance: string, right: RegistrationRight): Promise<number> {
    const { admission } = this.options;
    const { mesh, name } = key;
    const { revision } = await admission(createRegistrationRights(this.toIdentity(key))).put({
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
      .admission(createRegistrationRights(this.toIdentity(key)))
      .delete(request)
      .catch((error: unknown) => {
        if (!(error instanceof NotFound)) throw error;
      });
  }

  /** Returns whether this replica's index has the Dataplane. */
  isStored(key: LeaseKey): boolean {
    return this.options.index.get(this.toIdentity(key)) !== undefined;
  }

  private toIdentity({ mesh, namespace, name }: LeaseKey): Identity {
    return { kind: Dataplane.name, mesh, zone: this.options.zone, namespace, name };
  }
}
