import { isInForce } from '../../../../shared/api/changes';
import type { Event } from '../../../../shared/api/types/core-v1';
import type { FieldError } from '../../../../shared/errors/field-error';
import { invalid, required, validateUntilLimit } from '../../../../shared/errors/field-error';
import { dns1123SubdomainProblems, qualifiedNameProblems } from '../../../../shared/meta/dns-names';
import { pathSegmentName, subdomainName } from '../../../../shared/meta/name-rules';
import { validateFinalizerName, validateObjectMeta } from '../../../../shared/meta/validate-metadata';
import { GROUP, NAMESPACE } from '../../../../shared/names';
import { deepEqual } from '../../../../shared/object/clone';
import { isZero } from '../../../../shared/object/accessors';
import type { GroupVersion, ObjectMeta } from '../../../../shared/object/object';
import { Age } from '../../../engine/registry/object-table';
import type { Strategy } from '../../../engine/registry/strategy';
import { NAME } from '../columns/common';
import { derivedTableOf } from '../columns/table';
import type { Kind } from '../kind';
import { invalidForEach } from '../rules/primitives';

const TEXT_BYTES_MAX = 128;
const NOTE_BYTES_MAX = 1024;

/**
 * The rules of every Event, and the strict ones of those that are made through events v1. Field paths are those of core, which
 * is the stored form. On update only finalizers are validated further: upstream compares the new event with itself.
 */
const eventRules: Pick<Strategy<Event>, 'validate' | 'validateNew' | 'validateUpdate'> = {
  validate: (event, { via }) => [
    ...(event.eventTime === null ? namespaceAgrees(event) : validateReport(event, via.group)),
    ...invalidForEach(
      dns1123SubdomainProblems(event.metadata.namespace ?? ''),
      event.metadata.namespace ?? '',
      'namespace',
    ),
  ],
  validateNew: (event, { via }) => (isStrict(via) ? validateStrictly(event) : []),
  validateUpdate: (next, previous, { via }) => {
    if (!isStrict(via)) return [];
    return isInForce('immutableEvents') ? strictChanges(next, previous) : finalizerNames(next.metadata);
  },
};

const FIXED = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'type',
  'eventTime',
  'action',
  'related',
  'reportingComponent',
  'reportingInstance',
] as const;

/** What stays of an event, and its series. Source: ValidateEventUpdate, v1.36. */
function strictChanges(next: Event, previous: Event): FieldError[] {
  return [
    ...(deepEqual(next.series, previous.series) ? [] : validateSeries(next)),
    ...FIXED.filter((name) => !deepEqual(next[name] ?? null, previous[name] ?? null)).map((name) =>
      invalid(
        name === 'reportingComponent' ? 'reportingController' : name,
        next[name] ?? null,
        'field is immutable',
      ),
    ),
  ];
}

function isStrict({ group, version }: GroupVersion): boolean {
  return group === GROUP.events && version !== 'v1beta1';
}

/** A core/v1 event must be in the namespace of its object, or in `default` for an object without one. */
function namespaceAgrees(event: Event): FieldError[] {
  const own = event.metadata.namespace ?? '';
  const { namespace: involved = '' } = event.involvedObject;
  const agrees = involved === '' ? own === '' || own === NAMESPACE.default : own === involved;
  return agrees ? [] : [mismatch(involved)];
}

function mismatch(namespace: string): FieldError {
  return invalid('involvedObject.namespace', namespace, 'does not match event.namespace');
}

function validateReport(event: Event, group: string): FieldError[] {
  const isNamedByGroup = group === GROUP.core && isInForce('eventComponents');
  const componentPath = isNamedByGroup ? 'reportingComponent' : 'reportingController';
  const own = event.metadata.namespace ?? '';
  const { namespace: involved = '' } = event.involvedObject;
  const isHomeless =
    involved === '' &&
    own !== NAMESPACE.system &&
    !(own === NAMESPACE.default && isInForce('eventsInDefault'));
  const { reportingComponent: controller, message = '' } = event;
  return [
    ...(isHomeless ? [mismatch(involved)] : []),
    ...(controller === '' ? [required(componentPath)] : []),
    ...invalidForEach(qualifiedNameProblems(controller), controller, componentPath),
    ...shortText(event, 'reportingInstance'),
    ...shortText(event, 'action'),
    ...shortText(event, 'reason'),
    ...(Buffer.byteLength(message) > NOTE_BYTES_MAX
      ? [invalid('message', '', `can have at most ${String(NOTE_BYTES_MAX)} characters`)]
      : []),
  ];
}

function shortText(event: Event, field: 'reportingInstance' | 'action' | 'reason'): FieldError[] {
  const value = event[field] ?? '';
  if (value === '') return [required(field)];
  return Buffer.byteLength(value) <= TEXT_BYTES_MAX
    ? []
    : [invalid(field, '', `can have at most ${String(TEXT_BYTES_MAX)} characters`)];
}

function finalizerNames({ finalizers = [] }: ObjectMeta): FieldError[] {
  return validateUntilLimit(finalizers, (each, index) =>
    validateFinalizerName(each, `metadata.finalizers[${String(index)}]`),
  );
}

/** What tells of an event in the old way. */
const LEFTOVERS = ['firstTimestamp', 'lastTimestamp', 'count', 'source'] as const;

function validateStrictly(event: Event): FieldError[] {
  const { type = '', metadata } = event;
  return [
    ...validateObjectMeta(metadata, { namespaced: true, validateName: subdomainName, path: 'metadata' }),
    ...validateSeries(event),
    ...(event.eventTime === null ? [required('eventTime')] : []),
    ...(['Normal', 'Warning'].includes(type) ? [] : [invalid('type', '', `has invalid value: ${type}`)]),
    ...LEFTOVERS.filter((field) => !isZero(event[field])).map((field) =>
      invalid(field, '', 'needs to be unset'),
    ),
  ];
}

function validateSeries({ series }: Event): FieldError[] {
  if (series === undefined) return [];
  return [
    ...((series.count ?? 0) >= 2 ? [] : [invalid('series.count', '', 'should be at least 2')]),
    ...(series.lastObservedTime === null ? [required('series.lastObservedTime')] : []),
  ];
}

const eventTable = derivedTableOf(
  ({ firstTimestamp, eventTime }: Event) => new Age(firstTimestamp ?? eventTime),
  [
    { name: 'Last Seen', cell: lastSeen },
    { name: 'Type', cell: ({ type = '' }) => type },
    { name: 'Reason', cell: ({ reason = '' }) => reason },
    { name: 'Object', cell: target },
    { name: 'Subobject', isWide: true, cell: ({ involvedObject }) => involvedObject.fieldPath ?? '' },
    { name: 'Source', isWide: true, cell: source },
    { name: 'Message', cell: ({ message = '' }) => message.trim() },
    { name: 'First Seen', isWide: true, cell: (_event, first) => first },
    { name: 'Count', isWide: true, cell: count },
    { ...NAME, isWide: true },
  ],
);

function lastSeen({ series, lastTimestamp }: Event, first: Age): Age {
  if (series !== undefined) return new Age(series.lastObservedTime);
  const last = new Age(lastTimestamp);
  return last.isUnknown ? first : last;
}

/** A single event has no count in events.k8s.io. As in v1.21, the count of a series excludes its first event. */
function count({ series, count: own = 0 }: Event): number {
  if (series !== undefined) return (series.count ?? 0) + 1;
  return own === 0 ? 1 : own;
}

function target({ involvedObject: { kind = '', name = '' } }: Event): string {
  return name === '' ? kind.toLowerCase() : `${kind.toLowerCase()}/${name}`;
}

function source({ source: { component, host }, reportingComponent, reportingInstance }: Event): string {
  const who = component ?? reportingComponent;
  const where = host ?? reportingInstance;
  return where === '' ? who : `${who}, ${where}`;
}

export const events: Kind<Event> = {
  strategy: {
    nameRule: pathSegmentName,
    compat: { metadataChecks: 'afterwards' },
    ...eventRules,
    createsOnUpdate: true,
    expires: true,
    defaultPropagation: 'Unsupported',
    selectableFields: {
      'involvedObject.kind': '',
      'involvedObject.namespace': '',
      'involvedObject.name': '',
      'involvedObject.uid': '',
      'involvedObject.apiVersion': '',
      'involvedObject.resourceVersion': '',
      'involvedObject.fieldPath': '',
      reason: '',
      reportingComponent: '',
      source: '',
      type: '',
    },
    fieldSources: { source: ['source.component', 'reportingComponent'] },
    indexedFields: ['involvedObject.uid'],
  },
  table: eventTable,
};
