import { STEP_TIMES } from '../../../shared/concurrency/long-steps';
import { goQuote } from '../../../shared/errors/go-quote';
import { badRequest } from '../../../shared/errors/status-error';
import type { FieldSelector, FieldTerm } from '../../../shared/meta/fields';
import { exactField, matchesFields, parseFieldSelector } from '../../../shared/meta/fields';
import type { LabelSelector } from '../../../shared/meta/labels';
import {
  exactLabels,
  matchesLabels,
  parseLabelSelector,
  parseLongLabelSelector,
} from '../../../shared/meta/labels';
import type { Entry } from '../watch-cache/state/entry';
import type { Endpoint } from '../registry/resource';
import { relativeKey } from '../registry/resource';
import type { Selection } from '../registry/read';
import type { Target } from './target';

/** What selectors look at. */
export type Selectable = Pick<Entry, 'name' | 'labels' | 'fields'>;

export interface SelectionWithName extends Selection {
  /** The one name that can match, from the path or from `metadata.name=`; empty when there is none. */
  readonly name: string;
  readonly matches: ((object: Selectable) => boolean) | undefined;
}

const METADATA_FIELDS: readonly string[] = ['metadata.name', 'metadata.namespace'];

/** The selectors of a query, whatever they select from. */
export interface Selectors {
  readonly labels: LabelSelector;
  readonly fields: FieldSelector;
}

/** A selector of so many characters is read in slices. */
const LONG_SELECTOR_CHARS = 4_096;

/** Reads `labelSelector` and `fieldSelector`. Rejects with BadRequest for a malformed one. */
export async function selectorsOf(query: URLSearchParams): Promise<Selectors> {
  const labels = query.get('labelSelector') ?? '';
  const fields = query.get('fieldSelector') ?? '';
  // Both within one step where there are no slices, so that the longest turn of a stage tells of either.
  if (labels.length < LONG_SELECTOR_CHARS) {
    return STEP_TIMES.run('parse_selectors', () => ({
      labels: parseLabelSelector(labels),
      fields: parseFieldSelector(fields),
    }));
  }
  const read = await parseLongLabelSelector(labels);
  return STEP_TIMES.run('parse_selectors', () => ({ labels: read, fields: parseFieldSelector(fields) }));
}

/** What selectors and the path select together. Throws BadRequest for a field that the kind cannot be selected by. */
export function selectionOf(selectors: Selectors, target: Target): SelectionWithName {
  const { labels } = selectors;
  const fields = storedFields(selectors.fields, target.endpoint);
  const byName = exactField(fields, 'metadata.name');
  if (target.name !== '' && fields.length > 0 && byName !== target.name) {
    throw badRequest("fieldSelector metadata.name doesn't match requested name");
  }
  const name = target.name === '' ? (byName ?? '') : target.name;
  const { stored } = target.endpoint;
  const isOne = name !== '' && (target.namespace !== '' || !stored.namespaced);
  return {
    namespace: target.namespace,
    name,
    key: isOne ? relativeKey(stored, target.namespace, name) : undefined,
    fieldEquals: fields
      .filter((term) => isIndexable(term, stored))
      .map(({ field, value }) => [field, value] as const),
    labelEquals: [...exactLabels(labels)],
    matches: predicate(target, { labels, fields, name }),
  };
}

/** The terms with the names that the fields have where they are stored. Throws BadRequest for a field that cannot be selected by. */
function storedFields(terms: FieldSelector, { stored, row, selectorNames, custom }: Endpoint): FieldSelector {
  const known = stored.strategy.selectableFields ?? {};
  const renamed = [...selectorNames.values()];
  // Kinds without selectable fields of their own accept the namespace whether they have one or not.
  const isSelectable = Object.keys(known).length > 0;
  const hasNamespaces = row.namespaced || (custom === undefined && !isSelectable);
  return terms.map((term) => {
    const { field } = term;
    if (METADATA_FIELDS.includes(field) && (field !== 'metadata.namespace' || hasNamespaces)) return term;
    const own = selectorNames.get(field);
    const name = own ?? (renamed.includes(field) ? undefined : field);
    if (name !== undefined && Object.hasOwn(known, name)) return { ...term, field: name };
    const message = stored.strategy.compat?.unknownFieldMessage?.(field, row.version);
    throw badRequest(message ?? formatUnknownField(field, custom !== undefined || isSelectable));
  });
}

function formatUnknownField(field: string, hasOwnFields: boolean): string {
  return hasOwnFields
    ? `field label not supported: ${field}`
    : `${goQuote(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`;
}

/** A term that the text of the stored field alone decides: not one that an absent field meets as well. */
function isIndexable({ field, operator, value }: FieldTerm, { strategy }: Endpoint['stored']): boolean {
  const absent = strategy.selectableFields?.[field] ?? '';
  return operator === '=' && !METADATA_FIELDS.includes(field) && (absent === '' || absent !== value);
}

interface Terms {
  readonly labels: LabelSelector;
  readonly fields: FieldSelector;
  readonly name: string;
}

/** Undefined when everything is selected, so that a list need not look at its objects. */
function predicate(target: Target, { labels, fields, name }: Terms): SelectionWithName['matches'] {
  if (labels.length === 0 && fields.length === 0 && name === '') return undefined;
  const absent = target.endpoint.stored.strategy.selectableFields ?? {};
  return (entry) =>
    (name === '' || entry.name === name) &&
    matchesLabels(labels, entry.labels) &&
    (fields.length === 0 || matchesFields(fields, { get: (field) => fieldOf(entry, field, absent) }));
}

/** A field that the object does not have selects like the kind's text for it. */
function fieldOf(entry: Selectable, field: string, absent: Readonly<Record<string, string>>): string {
  const value = entry.fields[field] ?? '';
  return value === '' ? (absent[field] ?? '') : value;
}
