import type { CustomResourceDefinition } from '../../../shared/api/types/apiextensions-v1';
import type { Condition } from '../../engine/registry/conditions';
import { conditionOf, isConditionTrue } from '../../engine/registry/conditions';
import { deepEqual } from '../../../shared/object/clone';
import { problemsMessage } from './condition-message';
import type { Definition, DefinitionNames } from './definition';

/** The names of a definition's resource. */
export interface Naming {
  readonly acceptedNames: DefinitionNames;
  readonly namesAccepted: Condition;
}

type SingleName = 'plural' | 'singular' | 'kind' | 'listKind';

const CONFLICT_REASONS: Readonly<Record<SingleName, string>> = {
  plural: 'PluralConflict',
  singular: 'SingularConflict',
  kind: 'KindConflict',
  listKind: 'ListKindConflict',
};

/**
 * Decides which of its wanted names a definition gets, among the definitions of its group (itself included). A name is taken if another
 * definition has it, or wants it and was written earlier.
 *
 * Every replica decides alone on its cached state. This is safe: suppose that two replicas gave one name to two definitions. The earlier
 * definition was then unchanged when the later one was evaluated, because the write of a decision fails on a conflict. It would have been
 * preferred.
 */
export function nameWithin(definition: Definition, group: Iterable<Definition>): Naming {
  const { wantedNames: wanted, acceptedNames: accepted } = definition;
  const used = { resources: new Set<string>(), kinds: new Set<string>() };
  for (const each of group) {
    take(used, each.acceptedNames);
    if (each.name !== definition.name && each.revision < definition.revision) take(used, each.wantedNames);
  }
  const conflicts: { reason: string; message: string }[] = [];
  const choose = (field: SingleName, taken: ReadonlySet<string>): string => {
    const problem = conflictOf(wanted[field], accepted[field], taken);
    if (problem === undefined) return wanted[field];
    conflicts.push({ reason: CONFLICT_REASONS[field], message: problem });
    return accepted[field];
  };
  const plural = choose('plural', used.resources);
  const singular = choose('singular', used.resources);
  const held = new Set(accepted.shortNames);
  const shortConflicts = wanted.shortNames
    .filter((name) => !held.has(name))
    .flatMap((name) => conflictOf(name, '', used.resources) ?? []);
  if (shortConflicts.length > 0) {
    conflicts.push({ reason: 'ShortNamesConflict', message: problemsMessage(shortConflicts) });
  }
  const acceptedNames: DefinitionNames = {
    plural,
    singular,
    shortNames: shortConflicts.length > 0 ? accepted.shortNames : wanted.shortNames,
    kind: choose('kind', used.kinds),
    listKind: choose('listKind', used.kinds),
    categories: wanted.categories,
  };
  const last = conflicts.at(-1);
  const namesAccepted: Condition =
    last === undefined
      ? { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
      : { type: 'NamesAccepted', status: 'False', ...last };
  return { acceptedNames, namesAccepted };
}

/** A separate step establishes the definition, so that a client that sees it established can see the names. */
export function establishedCondition(
  object: CustomResourceDefinition,
  namesAccepted: Condition,
): Condition | undefined {
  if (isConditionTrue(object, 'Established')) return undefined;
  if (namesAccepted.status === 'True') {
    return {
      type: 'Established',
      status: 'False',
      reason: 'Installing',
      message: 'the initial names have been accepted',
    };
  }
  if (conditionOf(object, 'Established') !== undefined) return undefined;
  return {
    type: 'Established',
    status: 'False',
    reason: 'NotAccepted',
    message: 'not all names are accepted',
  };
}

/** Returns whether the status reports a name conflict. */
export function waitsForNames({ namesAccepted }: Definition): boolean {
  return namesAccepted?.status === 'False';
}

/** Returns whether the status reports the final decision on the names. */
export function isNamed(definition: Definition, group: Iterable<Definition>): boolean {
  const { acceptedNames, namesAccepted: now } = nameWithin(definition, group);
  const { namesAccepted: said } = definition;
  return (
    said?.status === now.status &&
    said.reason === now.reason &&
    said.message === now.message &&
    deepEqual(acceptedNames, definition.acceptedNames)
  );
}

function take(
  { resources, kinds }: { readonly resources: Set<string>; readonly kinds: Set<string> },
  names: DefinitionNames,
): void {
  for (const name of [names.plural, names.singular, ...names.shortNames]) resources.add(name);
  for (const name of [names.kind, names.listKind]) kinds.add(name);
}

function conflictOf(wanted: string, accepted: string, taken: ReadonlySet<string>): string | undefined {
  if (wanted === accepted || !taken.has(wanted)) return undefined;
  return `${JSON.stringify(wanted)} is already in use`;
}
