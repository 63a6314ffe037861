import { randomUUID } from 'node:crypto';
import { formatEtag, PreconditionFailed, type Admission } from '@causeway/admission';
import { LEASED_BY, REGISTERED_BY } from '@causeway/controllers';
import { bindingProblem, servicesProblem, type Enrolments, type JoiningCredential } from '@causeway/identity';
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
import { checkedDataplane, onlyThis, registrationContext, type RegistrationRights } from './registration-rights';

/** Inputs of registrations. */
export interface DataplaneRegistrarOptions {
  readonly zone: string;
  readonly index: IndexReader;
  /** The way in for writes with these rights. */
  readonly admission: (rights: RegistrationRights) => Pick<Admission, 'put' | 'delete'>;
  readonly enrolments: Pick<Enrolments, 'join' | 'checkServices'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A Dataplane that a proxy brings along. */
export interface Registration {
  readonly mesh: string;
  readonly name: string;
  /** The Dataplane as JSON, in the Universal form. */
  readonly document: string;
  /** The proxy's token, verified. */
  readonly credential: JoiningCredential;
  readonly until: number;
  /** The remote address of the proxy. */
  readonly address: string;
}

/** How long a Dataplane stays after the last stream of its proxy, ms (as in Kuma 2.14). */
const GRACE = 10_000;
const MAX_DOCUMENT_LENGTH = 128 * 1024;
const AT = FieldPath.at('node').field('metadata').field('dataplane.resource');

/**
 * Writes the Dataplanes that proxies bring along (kuma-dp), by the right of their token: only the Dataplane of the node, only as
 * the token is bound. It is removed 10 s after the proxy's last stream, by the replica that registered it last; where that one ended
 * before, by the leader (`AbandonedDataplanesReconciler`).
 */
export class DataplaneRegistrar {
  private readonly registered = new Map<string, { readonly id: Identity; readonly by: string }>();
  private readonly log: CallerLog;
  private isClosed = false;

  constructor(private readonly options: DataplaneRegistrarOptions) {
    this.log = new CallerLog(options.logger, options.clock);
  }

  /** Resolves once the index has the Dataplane. Throws Invalid, Forbidden, NotFound (no such Mesh), Conflict, Unavailable. */
  async register(proxy: string, registration: Registration): Promise<void> {
    const { index, admission, enrolments } = this.options;
    const { mesh, name } = registration;
    const id: Identity = { kind: Dataplane.name, mesh, zone: this.options.zone, namespace: DEFAULT_NAMESPACE, name };
    const { labels, spec } = readDocument(registration);
    const { credential } = registration;
    const { services } = credential.binding;
    const wanted = checkedDataplane({ id, labels, spec }, AT);
    const problem = bindingProblem(credential.binding, wanted) ?? (services && servicesProblem(services, wanted));
    if (problem !== undefined) throw new Forbidden(`the dataplane token ${problem}`);
    const before = index.get(id);
    if (before?.labels[LEASED_BY] !== undefined)
      throw new Forbidden(`Dataplane ${name} belongs to an agent (causeway-agent), which holds its lease`);
    const isOwn = !before || before.labels[REGISTERED_BY] !== undefined;
    const granted = enrolments.checkServices(wanted, await enrolments.join(id, credential, false));
    const by = randomUUID();
    const { revision } = await admission(onlyThis(id)).put({
      body: { type: Dataplane.name, mesh, name, labels: { ...labels, ...(isOwn && { [REGISTERED_BY]: by }) }, ...spec },
      address: { kind: Dataplane, mesh, namespace: id.namespace, name },
      context: registrationContext({ ...registration, namespace: DEFAULT_NAMESPACE, tokenId: credential.id }),
      ...(granted && { serverOwned: { grantedServices: [...granted] } }),
    });
    await waitUntilReached(index, revision, this.options.clock);
    if (isOwn) this.registered.set(proxy, { id, by });
  }

  /** The last stream of a proxy has ended. */
  left(proxy: string, isBack: () => boolean): void {
    const registered = this.registered.get(proxy);
    if (!registered) return;
    this.options.clock.after(GRACE, () => {
      if (this.isClosed || isBack() || this.registered.get(proxy) !== registered) return;
      this.registered.delete(proxy);
      void this.remove(registered);
    });
  }

  /** Dataplanes stay: their proxies turn to another replica. */
  close(): void {
    this.isClosed = true;
  }

  private async remove({ id, by }: { readonly id: Identity; readonly by: string }): Promise<void> {
    const { index, admission } = this.options;
    // Another replica, or somebody else, has written it since.
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
    await admission(onlyThis(id))
      .delete({ address, ifMatch: formatEtag(dataplane), context })
      .catch((error: unknown) => {
        // This replica has not read what another one wrote.
        if (error instanceof PreconditionFailed || error instanceof NotFound) return;
        this.log.warn(`${mesh}/${name}`, 'a registered Dataplane could not be removed', {
          mesh,
          name,
          error: errorText(error),
        });
      });
  }
}

/** Fields of the Universal form that are not of the spec. */
const HEADER: ReadonlySet<string> = new Set([
  'type',
  'mesh',
  'name',
  'labels',
  'creationTime',
  'modificationTime',
  'kri',
]);

/** The Dataplane that a proxy brings along. Throws Invalid where it is no JSON, or not the one that its node names. */
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
