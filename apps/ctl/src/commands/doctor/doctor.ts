import { ApiError } from '@causeway/api-client';
import type { JsonObject } from '@causeway/resources';
import type { CommandContext } from '../../context';
import { formatApiError } from '../../control-plane';
import { objectAt, structured, textAt, type Output, listAt } from '../../render';
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
};

/**
 * `causeway doctor`: what is wrong, and what to do: first what is seen from here, then what the control plane finds itself.
 * The exit code is 1 if something is found.
 */
export async function doctor(context: CommandContext, { output }: DoctorOptions): Promise<number> {
  const seen = await diagnoseFromHere(context);
  const report = seen.reached ? await serverReport(context) : { checks: [], findings: [] };
  const connection = [...seen.findings, ...report.findings];
  const total = connection.length + report.checks.reduce((sum, check) => sum + Number(check['total'] ?? 0), 0);
  if (output !== 'table') context.print(structured({ total, connection, checks: report.checks }, output));
  else if (total === 0) context.print('nothing is wrong that can be seen from here');
  else {
    const own = { check: 'connection', total: connection.length, findings: connection.map((each) => ({ ...each })) };
    for (const check of [own, ...report.checks]) for (const line of linesOf(check)) context.print(line);
  }
  return total === 0 ? 0 : 1;
}

interface ServerReport {
  readonly checks: readonly JsonObject[];
  readonly findings: readonly ConnectionFinding[];
}

/** Returns the control plane's own findings; for a caller who may not read them, a finding that says so. */
async function serverReport(context: CommandContext): Promise<ServerReport> {
  try {
    const report = await (await context.api()).rest.json({ path: '/_doctor' });
    return { checks: listAt(report, 'checks'), findings: [] };
  } catch (error) {
    if (!(error instanceof ApiError) || (error.code !== 'unauthenticated' && error.code !== 'forbidden')) throw error;
    const what = `the control plane does not say what it finds: ${formatApiError(error)}`;
    return { checks: [], findings: [{ what, advice: 'use the token of an administrator: --token, or a context' }] };
  }
}

function linesOf(check: JsonObject): readonly string[] {
  const total = Number(check['total'] ?? 0);
  if (total === 0) return [];
  const name = textAt(check, 'check');
  const findings = listAt(check, 'findings');
  const shown = findings.length < total ? `, the first ${findings.length}` : '';
  return [
    `${Object.hasOwn(TITLES, name) ? TITLES[name] : name} (${total}${shown}):`,
    ...findings.flatMap((finding) => {
      const advice = textAt(finding, 'advice');
      const line = `  ${[subjectOf(objectAt(finding, 'resource')), textAt(finding, 'what')].join(' ').trim()}`;
      return advice === '' ? [line] : [line, `      ${advice}`];
    }),
  ];
}

/** `MeshService east/default/default/redis`, without empty parts. */
function subjectOf(resource: JsonObject): string {
  const path = ['zone', 'mesh', 'namespace', 'name'].map((key) => textAt(resource, key)).filter((part) => part !== '');
  return `${textAt(resource, 'type')} ${path.join('/')}`.trim();
}

/** `causeway doctor`. */
export function registerDoctor(program: Command, context: CommandContext, finish: SetExitCode): void {
  program
    .command('doctor')
    .description('says what is not as it should be, and what to do; exit code 1 where something is found')
    .addOption(outputOption())
    .action(async (options: DoctorOptions) => finish(await doctor(context, options)));
}
