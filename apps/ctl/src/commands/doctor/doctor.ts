import { diagnose, type Diagnosis } from '@causeway/api';
import { ApiError } from '@causeway/api-client';
import type { CommandContext } from '../../context';
import { formatApiError } from '../../control-plane';
import { inLines, pathTo, structured, type Output } from '../../render';
import type { Command } from 'commander';
import { outputOption, type SetExitCode } from '../../options';
import { diagnoseFromHere, type ConnectionFinding } from './connection-checks';

export interface DoctorOptions {
  readonly output: Output;
}

/** Titles of the checks of a control plane. */
const TITLES: Readonly<Record<string, string>> = {
  connection: 'this program, its servers, and what is between them',
  rules: 'resources that break a rule or a bound',
  conditions: 'resources whose conditions say that something is wrong',
  claims: 'zones that claim what cannot be so',
  stores: 'stores that are refused under the name of a zone',
  incarnations: 'zones that began a new incarnation',
  rejections: 'what stands rejected',
  lost: 'zones that are lost',
  quarantine: 'what is quarantined',
  leases: 'leases of agents that do not end',
  names: 'names at App Mesh that the upgrade kept',
  leader: 'who leads, and what decides it',
  tokens: 'tokens that end soon',
  keys: 'keys and certificates that cannot be used',
  readiness: 'what this control plane cannot do now',
  copies: 'machines that are copies of another',
};

/**
 * `causeway doctor`: problems and their remedies: first those found from here, then those that the control plane itself finds. The exit code is 1 if
 * there are any.
 */
export async function doctor(context: CommandContext, { output }: DoctorOptions): Promise<number> {
  const seen = await diagnoseFromHere(context);
  const report = seen.reached ? await serverReport(context) : { checks: [], findings: [] };
  const connection = [...seen.findings.filter((one) => !isFoundThere(one, report)), ...report.findings];
  const total = connection.length + report.checks.reduce((sum, check) => sum + check.total, 0);
  if (output !== 'table') context.print(structured({ total, connection, checks: report.checks }, output));
  else if (total === 0) context.print('nothing is wrong that can be seen from here');
  else {
    const own = { check: 'connection', total: connection.length, findings: connection };
    for (const check of inLines([own, ...report.checks])) for (const line of checkLines(check)) context.print(line);
  }
  return total === 0 ? 0 : 1;
}

interface ServerReport {
  readonly checks: Diagnosis['checks'];
  readonly findings: readonly ConnectionFinding[];
}

/** Returns whether the control plane finds the same by itself: its diagnostics port and its doctor have one source. */
function isFoundThere({ what }: ConnectionFinding, { checks }: ServerReport): boolean {
  const timeless = (text: string): string => text.replace(/since \d+ s/g, '');
  return checks.some(({ findings }) => findings.some((one) => timeless(what).startsWith(timeless(one.what))));
}

/** Returns the control plane's own findings; for a caller without the right to read them, a finding about that. */
async function serverReport(context: CommandContext): Promise<ServerReport> {
  try {
    const { checks } = await (await context.api()).rest.call(diagnose);
    return { checks, findings: [] };
  } catch (error) {
    if (!(error instanceof ApiError) || (error.code !== 'unauthenticated' && error.code !== 'forbidden')) throw error;
    const what = `the control plane does not say what it finds: ${formatApiError(error)}`;
    return { checks: [], findings: [{ what, advice: 'use the token of an administrator: --token, or a context' }] };
  }
}

/** A check, by the control plane or by this program. */
interface Check {
  readonly check: string;
  readonly total: number;
  readonly findings: readonly (ConnectionFinding & Pick<Diagnosis['checks'][number]['findings'][number], 'resource'>)[];
}

function checkLines({ check, total, findings }: Check): readonly string[] {
  if (total === 0) return [];
  const shown = findings.length < total ? `, the first ${findings.length}` : '';
  return [
    `${Object.hasOwn(TITLES, check) ? TITLES[check] : check} (${total}${shown}):`,
    ...findings.flatMap(({ resource, what, advice }) => {
      const subject = resource ? `${resource.type} ${pathTo(resource)}`.trim() : '';
      const line = `  ${[subject, what].join(' ').trim()}`;
      return advice === '' ? [line] : [line, `      ${advice}`];
    }),
  ];
}

/** `causeway doctor`. */
export function registerDoctor(program: Command, context: CommandContext, finish: SetExitCode): void {
  program
    .command('doctor')
    .description('says what is not as it should be, and what to do; exit code 1 where something is found')
    .addOption(outputOption())
    .action(async (options: DoctorOptions) => finish(await doctor(context, options)));
}
