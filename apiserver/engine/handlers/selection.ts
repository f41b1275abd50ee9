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

/** The parts of an object that selectors match. */
export type Selectable = Pick<Entry, 'name' | 'labels' | 'fields'>;

export interface SelectionWithName extends Selection {
  /** The only name that can match, from the path or from `metadata.name=`; empty if there is none. */
  readonly name: string;
  readonly matches: ((object: Selectable) => boolean) | undefined;
}

const METADATA_FIELDS: readonly string[] = ['metadata.name', 'metadata.namespace'];

/** The selectors of a query. */
export interface Selectors {
  readonly labels: LabelSelector;
  readonly fields: FieldSelector;
}

/** Selectors from this length on are parsed in slices. */
const LONG_SELECTOR_CHARS = 4_096;

/** Parses `labelSelector` and `fieldSelector`. Rejects with BadRequest for a malformed one. */
export async function selectorsOf(query: URLSearchParams): Promise<Selectors> {
  const labels = query.get('labelSelector') ?? '';
  const fields = query.get('fieldSelector') ?? '';
  // Both in one step if there are no slices, so that the metric of the stage covers both.
  if (labels.length < LONG_SELECTOR_CHARS) {
    return STEP_TIMES.run('parse_selectors', () => ({
      labels: parseLabelSelector(labels),
      fields: parseFieldSelector(fields),
    }));
  }
  const read = await parseLongLabelSelector(labels);
  return STEP_TIMES.run('parse_selectors', () => ({ labels: read, fields: parseFieldSelector(fields) }));
}

/** Combines the selectors with the path. Throws BadRequest for an unsupported field. */
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

/** The terms with the field names of the stored version. Throws BadRequest for an unsupported field. */
function storedFields(terms: FieldSelector, { stored, row, selectorNames, custom }: Endpoint): FieldSelector {
  const known = stored.strategy.selectableFields ?? {};
  const renamed = [...selectorNames.values()];
  // Kinds without selectable fields of their own accept metadata.namespace even if they are cluster-scoped.
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

/** Whether an index of the stored field can answer the term: not if absent fields match as well. */
function isIndexable({ field, operator, value }: FieldTerm, { strategy }: Endpoint['stored']): boolean {
  const absent = strategy.selectableFields?.[field] ?? '';
  return operator === '=' && !METADATA_FIELDS.includes(field) && (absent === '' || absent !== value);
}

interface Terms {
  readonly labels: LabelSelector;
  readonly fields: FieldSelector;
  readonly name: string;
}

/** Undefined if everything is selected, so that a list need not decode its objects. */
function predicate(target: Target, { labels, fields, name }: Terms): SelectionWithName['matches'] {
  if (labels.length === 0 && fields.length === 0 && name === '') return undefined;
  const absent = target.endpoint.stored.strategy.selectableFields ?? {};
  return (entry) =>
    (name === '' || entry.name === name) &&
    matchesLabels(labels, entry.labels) &&
    (fields.length === 0 || matchesFields(fields, { get: (field) => fieldOf(entry, field, absent) }));
}

/** The value of a field, or the text of the kind for an absent one. */
function fieldOf(entry: Selectable, field: string, absent: Readonly<Record<string, string>>): string {
  const value = entry.fields[field] ?? '';
  return value === '' ? (absent[field] ?? '') : value;
}
