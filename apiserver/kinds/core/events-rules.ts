import { GROUP, NAMESPACE } from '../../../shared/names';
import type { ApiObject, GroupVersion } from '../../../shared/object/object';
import type { FieldError } from '../../../shared/errors/field-error';
import { invalid, required } from '../../../shared/errors/field-error';
import { dns1123SubdomainProblems, qualifiedNameProblems } from '../../../shared/meta/dns-names';
import type { Strategy } from '../../registry/strategy';
import { integer, isZero, optionalRecord, record, text } from '../../../shared/object/accessors';
import { invalidForEach } from '../rules/primitives';

const TEXT_BYTES_MAX = 128;
const NOTE_BYTES_MAX = 1024;

/**
 * The rules of every Event, and the strict ones of those that are made through events v1. Field paths are those of core, which
 * is the stored form.
 */
export const eventRules: Pick<Strategy, 'validate' | 'validateNew'> = {
  validate: (event) => [
    ...(isZero(event['eventTime']) ? namespaceAgrees(event) : validateReport(event)),
    ...invalidForEach(
      dns1123SubdomainProblems(event.metadata.namespace ?? ''),
      event.metadata.namespace ?? '',
      'namespace',
    ),
  ],
  validateNew: (event, { via }) => (isStrict(via) ? validateStrictly(event) : []),
};

function isStrict({ group, version }: GroupVersion): boolean {
  return group === GROUP.events && version !== 'v1beta1';
}

/** An event of the old kind stands in the namespace of its object, or in the default one if that has none. */
function namespaceAgrees(event: ApiObject): FieldError[] {
  const own = event.metadata.namespace ?? '';
  const involved = text(record(event['involvedObject'])['namespace']);
  const agrees = involved === '' ? own === '' || own === NAMESPACE.default : own === involved;
  return agrees ? [] : [mismatch(involved)];
}

function mismatch(namespace: string): FieldError {
  return invalid('involvedObject.namespace', namespace, 'does not match event.namespace');
}

function validateReport(event: ApiObject): FieldError[] {
  const own = event.metadata.namespace ?? '';
  const involved = text(record(event['involvedObject'])['namespace']);
  const isHomeless = involved === '' && own !== NAMESPACE.default && own !== NAMESPACE.system;
  const controller = text(event['reportingComponent']);
  return [
    ...(isHomeless ? [mismatch(involved)] : []),
    ...(controller === '' ? [required('reportingController')] : []),
    ...invalidForEach(qualifiedNameProblems(controller), controller, 'reportingController'),
    ...shortText(event, 'reportingInstance'),
    ...shortText(event, 'action'),
    ...shortText(event, 'reason'),
    ...(Buffer.byteLength(text(event['message'])) > NOTE_BYTES_MAX
      ? [invalid('message', '', `can have at most ${String(NOTE_BYTES_MAX)} characters`)]
      : []),
  ];
}

function shortText(event: ApiObject, field: string): FieldError[] {
  const value = text(event[field]);
  if (value === '') return [required(field)];
  return Buffer.byteLength(value) <= TEXT_BYTES_MAX
    ? []
    : [invalid(field, '', `can have at most ${String(TEXT_BYTES_MAX)} characters`)];
}

function validateStrictly(event: ApiObject): FieldError[] {
  const { name = '' } = event.metadata;
  const type = text(event['type']);
  const series = optionalRecord(event['series']);
  const leftovers = ['firstTimestamp', 'lastTimestamp', 'count', 'source'];
  return [
    ...invalidForEach(dns1123SubdomainProblems(name), name, 'metadata.name'),
    ...(series === undefined || (integer(series['count']) ?? 0) >= 2
      ? []
      : [invalid('series.count', '', 'should be at least 2')]),
    ...(series === undefined || !isZero(series['lastObservedTime'])
      ? []
      : [required('series.lastObservedTime')]),
    ...(isZero(event['eventTime']) ? [required('eventTime')] : []),
    ...(['Normal', 'Warning'].includes(type) ? [] : [invalid('type', '', `has invalid value: ${type}`)]),
    ...leftovers
      .filter((field) => !isZero(event[field]))
      .map((field) => invalid(field, '', 'needs to be unset')),
  ];
}
