import type { Registry } from '@causeway/resources';
import { readTypedLine, listOptions, type TypedLine } from './command-line';
import type { Command, Option } from 'commander';

/** One completion, with its description. */
export interface Candidate {
  readonly value: string;
  readonly description?: string;
  /** Whether the word continues: the shell then adds no space. */
  readonly open?: boolean;
}

/** Names from the server or the user's files; empty if these are not available. */
export interface NameSource {
  /** Returns the names of resources of a kind that contain `part`. */
  resources(plural: string, part: string, typed: TypedLine): Promise<readonly string[]>;
  contexts(): readonly string[];
  /** Returns the kinds of the program; also the server's declared kinds, if it answers, unless `noun` names one of the program's. */
  kinds(typed: TypedLine, noun?: string): Promise<Registry>;
}

/** Commands whose first operand is a kind, or `KIND/NAME`. */
const OF_RESOURCES: readonly string[] = [
  'get',
  'describe',
  'delete',
  'edit',
  'wait',
  'label',
  'policies',
  'scopes',
  'impact',
];
/** Commands whose operand is a context. */
const OF_CONTEXTS: readonly string[] = ['config use-context', 'config delete-context', 'config set-context'];
/** Commands whose first operand is a zone. */
const OF_ZONES = /^(zones (?!.*-global)\S+|tokens zone|sync diff)$/;
const VERBS: readonly string[] = ['get', 'list', 'watch', 'create', 'update', 'delete'];

/** Returns the completions of the last word; `files` if it is a path. */
export async function listCandidates(
  program: Command,
  words: readonly string[],
  names: NameSource,
): Promise<readonly Candidate[] | 'files'> {
  const current = words.at(-1) ?? '';
  const typed = readTypedLine(program, words.slice(0, -1));
  const equals = /^(--[a-z-]+)=/.exec(current)?.[1];
  const inline = equals === undefined ? undefined : listOptions(typed.command).find(({ long }) => long === equals);
  const option = typed.pending ?? inline;
  if (option) {
    const prefix = typed.pending ? '' : `${equals}=`;
    const values = await listValues(option, { names, typed, part: current.slice(prefix.length) });
    return values === 'files' ? values : matching(values, current, prefix);
  }
  if (current.startsWith('-')) return matching(listFlags(typed.command), current);
  const below = typed.command.commands.filter((each) => each.name() !== '__complete');
  const commands =
    typed.operands.length === 0 ? below.map((each) => ({ value: each.name(), description: each.description() })) : [];
  return matching([...commands, ...(await listOperands(typed, { names, current }))], current);
}

function matching(all: readonly Candidate[], current: string, prefix = ''): readonly Candidate[] {
  return all.map((each) => ({ ...each, value: prefix + each.value })).filter(({ value }) => value.startsWith(current));
}

function listFlags(command: Command): readonly Candidate[] {
  const options = listOptions(command).map(({ long, short, description }) => ({
    value: long ?? short ?? '',
    description,
  }));
  return [...options, { value: '--help', description: 'shows how the command is used' }];
}

async function listValues(
  option: Option,
  { names, typed, part }: { readonly names: NameSource; readonly typed: TypedLine; readonly part: string },
): Promise<readonly Candidate[] | 'files'> {
  if (option.argChoices) return option.argChoices.map((value) => ({ value }));
  const plain = (all: readonly string[]): readonly Candidate[] => all.map((value) => ({ value }));
  switch (option.attributeName()) {
    case 'filename':
    case 'caFile':
    case 'tokenFile':
      return 'files';
    case 'mesh':
      return plain(await names.resources('meshes', part, typed));
    case 'zone':
    case 'seenFrom':
      return plain(await names.resources('zones', part, typed));
    case 'namespace':
      return plain(await names.resources('namespaces', part, typed));
    case 'context':
    case 'zoneContext':
      return plain(names.contexts());
    case 'kind':
      return listKinds(await names.kinds(typed));
    case 'for':
      return [{ value: 'condition=', open: true }, { value: 'delete' }, { value: 'create' }];
    default:
      return [];
  }
}

function listKinds({ kinds }: Registry): readonly Candidate[] {
  return kinds.map(({ plural, name }) => ({ value: plural, description: name }));
}

async function listOperands(
  typed: TypedLine,
  { names, current }: { readonly names: NameSource; readonly current: string },
): Promise<readonly Candidate[]> {
  const [first] = typed.operands;
  if (OF_RESOURCES.includes(typed.path)) return resourceWords(typed, { names, current });
  if (typed.path === 'auth can-i') {
    return first === undefined
      ? VERBS.map((value) => ({ value }))
      : typed.operands.length === 1
        ? listKinds(await names.kinds(typed))
        : [];
  }
  if (first !== undefined) return [];
  if (OF_ZONES.test(typed.path)) return (await names.resources('zones', current, typed)).map((value) => ({ value }));
  if (OF_CONTEXTS.includes(typed.path)) return names.contexts().map((value) => ({ value }));
  return typed.command.registeredArguments[0]?.argChoices?.map((value) => ({ value })) ?? [];
}

/** Completes a kind, a name of a kind, or `KIND/NAME`. */
async function resourceWords(
  typed: TypedLine,
  { names, current }: { readonly names: NameSource; readonly current: string },
): Promise<readonly Candidate[]> {
  const [first] = typed.operands;
  const findPlural = async (noun: string): Promise<string | undefined> =>
    (await names.kinds(typed, noun)).noun(noun.toLowerCase())?.plural;
  const slash = current.indexOf('/');
  if (slash > 0) {
    const plural = await findPlural(current.slice(0, slash));
    const found = plural === undefined ? [] : await names.resources(plural, current.slice(slash + 1), typed);
    return found.map((name) => ({ value: `${current.slice(0, slash)}/${name}` }));
  }
  if (first === undefined) return listKinds(await names.kinds(typed));
  const plural = await findPlural(first);
  const found = plural === undefined ? [] : await names.resources(plural, current, typed);
  return found.filter((name) => !typed.operands.includes(name)).map((value) => ({ value }));
}
