import type { Finding } from '@causeway/api';
import { Unavailable, type Identity } from '@causeway/resources';
import type { Impediment } from '@causeway/runtime';
import type { DoctorCheck } from './doctor-checks';

/** An agent that asks for a Dataplane whose lease another agent holds, and goes on. */
export interface AgentRival extends Pick<Identity, 'mesh' | 'namespace' | 'name'> {
  readonly machine: string;
  readonly address: string;
  /** Whether it shows the instance of the holder: its state folder is a copy. */
  readonly isCopy: boolean;
  readonly holder: { readonly machine: string; readonly address: string };
}

/** Inputs of the checks of a control plane itself. */
export interface PlaneCheckInput {
  readonly zone: string;
  readonly impediments: readonly Impediment[];
  /** Parts that could not be read, each with the reason. */
  readonly unread: readonly string[];
  readonly rivals: readonly AgentRival[];
}

/** Checks for what the control plane cannot do now, and for machines that are copies of another. */
export function planeChecks({ zone, impediments, unread, rivals }: PlaneCheckInput): readonly DoctorCheck[] {
  return [
    {
      name: 'readiness',
      *findings() {
        // `leader` has a check of its own.
        for (const { type, reason: what, advice } of impediments) if (type !== 'leader') yield { what, advice };
        for (const what of unread) yield { what, advice: 'ask again when the database answers' };
      },
    },
    {
      name: 'copies',
      *findings() {
        for (const rival of rivals) yield toFinding(rival, zone);
      },
    },
  ];
}

function toFinding({ mesh, namespace, name, machine, address, isCopy, holder }: AgentRival, zone: string): Finding {
  const which = `machine ${machine} at ${address}`;
  const other = `machine ${holder.machine} at ${holder.address}`;
  return {
    resource: { type: 'Dataplane', mesh, zone, namespace, name },
    what: isCopy
      ? `${which} is a copy of ${other}, with its state folder, and is refused: two machines with one identity`
      : `${which} wants to be it too, and is refused: ${other} holds its lease`,
    advice: isCopy
      ? `on the copy: stop causeway-agent, empty its state folder, give it a name and a bundle of its own`
      : 'give one of the two another name in its agent.yaml, and a bundle of its own',
  };
}

/** Reads a part of a report; where the database is away, that is one more thing that could not be read. */
export async function readOr<T>(what: string, instead: T, unread: string[], read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    unread.push(`${what} could not be checked: ${error.message}`);
    return instead;
  }
}
