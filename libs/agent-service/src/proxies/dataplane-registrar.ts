import { randomUUID } from 'node:crypto';
import { formatEtag, PreconditionFailed, type Admission } from '@causeway/admission';
import { LEASED_BY, REGISTERED_BY } from '@causeway/controllers';
import { findBindingProblem, findServicesProblem, type Enrolments, type JoiningCredential } from '@causeway/identity';
import { Dataplane } from '@causeway/kinds';
import {
  FieldPath,
  Forbidden,
  Invalid,
  isJsonObject,
  NotFound,
  shortened,
  type Identity,
  type JsonObject,
  type Labels,
} from '@causeway/resources';
import { CallerLog, errorText, type Clock, type Logger } from '@causeway/runtime';
import { waitUntilReached, type IndexReader } from '@causeway/store';
import { DEFAULT_NAMESPACE } from './proxy-views';
import {
  validateDraft,
  createRegistrationRights,
  registrationContext,
  type RegistrationRights,
} from './registration-rights';

/** Dependencies of a `DataplaneRegistrar`. */
export interface DataplaneRegistrarOptions {
  readonly zone: string;
  readonly index: IndexReader;
  /** Returns the admission for writes with these rights. */
  readonly admission: (rights: RegistrationRights) => Pick<Admission, 'put' | 'delete'>;
  readonly enrolments: Pick<Enrolments, 'join' | 'checkServices'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Dataplane that a proxy registers itself. */
export interface Registration {
  readonly mesh: string;
  readonly name: string;
  /** Dataplane as JSON, in the Universal form. */
  readonly document: string;
  /** Verified token of the proxy. */
  readonly credential: JoiningCredential;
  readonly until: number;
  /** Remote address of the proxy. */
  readonly address: string;
}

/** Time for which a Dataplane stays after the last stream of its proxy, ms (as in Kuma 2.14). */
const GRACE_PERIOD = 10_000;
const MAX_DOCUMENT_LENGTH = 128 * 1024;
const AT = FieldPath.at('node').field('metadata').field('dataplane.resource');

/**
 * Writes the Dataplanes that proxies register themselves (kuma-dp), by the right of their token: only the node's own
 * Dataplane, within the token's binding. It is removed 10 s after the proxy's last stream by the replica that
 * registered it last; if that replica has ended, by the leader (`AbandonedDataplanesReconciler`).
 */
export class DataplaneRegistrar {
  private readonly registered = new Map<string, { readonly id: Identity; readonly by: string }>();
  private readonly log: CallerLog;
  private isClosed = false;

  constructor(private readonly options: DataplaneRegistrarOptions) {
    this.log = new CallerLog(options.logger, options.clock);
  }

  /** Resolves once the index has it. Throws Invalid, Forbidden, NotFound (no Mesh), Conflict, Unavailable. */
  async register(proxy: string, registration: Registration): Promise<void> {
    const { index, admission, enrolments } = this.options;
    const { mesh, name } = registration;
    const id: Identity = { kind: Dataplane.name, mesh, zone: this.options.zone, namespace: DEFAULT_NAMESPACE, name };
    const { labels, spec } = readDocument(registration);
    const { credential } = registration;
    const { services } = credential.binding;
    const wanted = validateDraft({ id, labels, spec }, AT);
    const problem =
      findBindingProblem(credential.binding, wanted) ?? (services && findServicesProblem(services, wanted));
    if (problem !== undefined) throw new Forbidden(`the dataplane token ${problem}`);
    const before = index.get(id);
    if (before?.labels[LEASED_BY] !== undefined)
      throw new Forbidden(`Dataplane ${name} belongs to an agent (causeway-agent), which holds its lease`);
    const isOwn = !before || before.labels[REGISTERED_BY] !== undefined;
    const granted = enrolments.checkServices(wanted, await enrolments.join(id, credential, false));
    const by = randomUUID();
    const { revision } = await admission(createRegistrationRights(id)).put({
      body: { type: Dataplane.name, mesh, name, labels: { ...labels, ...(isOwn && { [REGISTERED_BY]: by }) }, ...spec },
      address: { kind: Dataplane, mesh, namespace: id.namespace, name },
      context: registrationContext({ ...registration, namespace: DEFAULT_NAMESPACE, tokenId: credential.id }),
      ...(granted && { serverOwned: { grantedServices: [...granted] } }),
    });
    await waitUntilReached(index, revision, this.options.clock);
    if (isOwn) this.registered.set(proxy, { id, by });
  }

  /** Schedules removal after the last stream of a proxy has ended. */
  scheduleRemoval(proxy: string, isBack: () => boolean): void {
    const registered = this.registered.get(proxy);
    if (!registered) return;
    this.options.clock.after(GRACE_PERIOD, () => {
      if (this.isClosed || isBack() || this.registered.get(proxy) !== registered) return;
      this.registered.delete(proxy);
      void this.remove(registered);
    });
  }

  /** Stops; Dataplanes stay, since their proxies connect to another replica. */
  close(): void {
    this.isClosed = true;
  }

  private async remove({ id, by }: { readonly id: Identity; readonly by: string }): Promise<void> {
    const { index, admission } = this.options;
    // Another replica or user has written it since.
    const dataplane = index.get(id);
    if (dataplane?.labels[REGISTERED_BY] !== by) return;
    const { mesh, name, namespace } = id;
    const address = { kind: Dataplane, mesh, namespace, name };
    const context = registrationContext({
      mesh,
      namespace: DEFAULT_NAMESPACE,
      name,
      tokenId: '',
      until: 0,
      address: '',
    });
    await admission(createRegistrationRights(id))
      .delete({ address, ifMatch: formatEtag(dataplane), context })
      .catch((error: unknown) => {
        // This replica's index lacks a write of another replica.
        if (error instanceof PreconditionFailed || error instanceof NotFound) return;
        this.log.warn(`${mesh}/${name}`, 'a registered Dataplane could not be removed', {
          mesh,
          name,
          error: errorText(error),
        });
      });
  }
}

/** Fields of the Universal form that are not part of the spec. */
const HEADER: ReadonlySet<string> = new Set([
  'type',
  'mesh',
  'name',
  'labels',
  'creationTime',
  'modificationTime',
  'kri',
]);

/** Parses the Dataplane that a proxy registers. Throws Invalid if it is no JSON, or not the Dataplane of the node. */
export function readDocument({ document, mesh, name }: Pick<Registration, 'document' | 'mesh' | 'name'>): {
  readonly labels: Labels;
  readonly spec: JsonObject;
} {
  if (document.length > MAX_DOCUMENT_LENGTH)
    throw new Invalid([
      AT.violation(`must have at most ${MAX_DOCUMENT_LENGTH} characters, has ${document.length}`, 'too-long'),
    ]);
  let parsed: unknown;
  try {
    parsed = JSON.parse(document);
  } catch (cause) {
    throw new Invalid([AT.violation(`must be JSON: ${errorText(cause)}`, 'wrong-form')], { cause });
  }
  if (!isJsonObject(parsed)) throw new Invalid([AT.violation('must be an object', 'wrong-form')]);
  const wanted = { type: Dataplane.name, mesh, name };
  for (const [field, value] of Object.entries(wanted)) {
    const given = parsed[field];
    if (given !== value)
      throw new Invalid([
        AT.field(field).violation(`must be "${value}"; got ${shortened(JSON.stringify(given) ?? 'nothing', 100)}`),
      ]);
  }
  const { labels = {} } = parsed;
  if (!isJsonObject(labels)) throw new Invalid([AT.field('labels').violation('must be an object', 'wrong-form')]);
  const texts = Object.entries(labels).filter((label): label is [string, string] => typeof label[1] === 'string');
  const own = texts.filter(([label]) => label !== REGISTERED_BY && label !== LEASED_BY);
  const spec = Object.fromEntries(Object.entries(parsed).filter(([field]) => !HEADER.has(field)));
  return { labels: Object.fromEntries(own), spec };
}
